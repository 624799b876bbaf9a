"""The facts that an explanation uses: what is stored about a sale, a customer or a click."""

from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import Connection, select

from storage.management import commissions, program_settings
from storage.management.commissions import Commission
from storage.management.program_settings import Program
from storage.reading import payment_search, rejected_calls
from storage.reading.payment_search import FoundPayment
from storage.reading.rejected_calls import LoggedRejection
from storage.rules.commission import CommissionType, Terms
from storage.rules.errors import DuplicateTransaction
from storage.tables import clicks, commission_terms, customers, leads, partners, refused_calls, sales, test_events
from storage.tables import commissions as earned
from storage.tables import refunds as refund_events

MOST_REJECTED = 10


class Subject(NamedTuple):
    """The identifier to explain; exactly one of the three is set."""

    transaction_id: str | None = None
    customer_key: str | None = None
    click_id: str | None = None


class Facts(NamedTuple):
    """The rows about a sale, each None where there is none; `rejected_calls` name the subject, newest first.

    `payment` is the processor's event with this identifier, if it is no sale.

    Where `rejected` is set, the facts are about that rejected call, and `sale` is None.
    """

    subject: Subject
    at: datetime
    program: Program
    sale: Any
    rejected: LoggedRejection | None
    payment: FoundPayment | None
    commission: Commission | None
    terms: Terms | None
    customer: Any
    click: Any
    partner: Any
    lead: Any
    outranked: list[Any]
    refunds: list[Any]
    rejected_calls: list[LoggedRejection]
    tested: bool
    first_purchase_at: datetime | None


def gather(connection: Connection, program_id: int, subject: Subject, *, at: datetime) -> Facts:
    """Return the stored facts about a subject. Raises NotFound when there is no such program."""
    program = program_settings.get_program(connection, program_id)
    customer = _customer(connection, program_id, subject)
    sale = _sale(connection, program_id, subject, customer)
    payment = None if sale or customer else payment_search.find(connection, program_id, **subject._asdict())
    if payment is not None and payment.sale is not None:
        sale, payment = _sale(connection, program_id, Subject(payment.sale), None), None
    rejected_calls = _rejected(connection, program_id, subject)
    rejected = _deciding(subject, sale, rejected_calls)
    if rejected is not None:
        sale, customer = None, customer or _customer(connection, program_id, rejected)
    elif sale is not None:
        customer = _one(connection, customers, program_id, customers.c.id == sale.customer_id)
    elif payment is not None:
        customer = _customer(connection, program_id, payment)
    click = _click(connection, program_id, customer or rejected or payment or subject)
    sent_by = (customer or click) and (customer or click).partner_id
    return Facts(
        subject=subject,
        at=at,
        program=program,
        sale=sale,
        rejected=rejected,
        payment=None if rejected else payment,
        commission=_commission(connection, program_id, sale),
        terms=_terms(connection, program, sale),
        customer=customer,
        click=click,
        partner=_one(connection, partners, program_id, partners.c.id == sent_by) if sent_by else None,
        lead=_lead(connection, program_id, customer),
        outranked=_outranked(connection, program_id, customer),
        refunds=_refunds(connection, program_id, sale),
        rejected_calls=rejected_calls,
        tested=_tested(connection, program_id, subject),
        first_purchase_at=customer.first_purchase_at if customer else None,
    )


def _deciding(subject: Subject, sale: Any, calls: list[LoggedRejection]) -> LoggedRejection | None:
    """Return the rejected call that decides: a sale before any other; None where the recorded sale decides."""
    if sale is not None:
        by_person = subject.transaction_id is None
        later = [call for call in calls if by_person and call.call == "sale" and call.at > sale.at]
        calls = [call for call in later if call.code != DuplicateTransaction.code]
    sale_calls = [call for call in calls if call.call == "sale"]
    return next(iter(sale_calls or calls), None)


def _one(connection: Connection, table: Any, program_id: int, *conditions: Any, newest: bool = False) -> Any:
    rows = select(table).where(table.c.program_id == program_id, *conditions)
    if newest:
        rows = rows.order_by(table.c.id.desc())
    return connection.execute(rows.limit(1)).first()


def _customer(connection: Connection, program_id: int, named: Subject | LoggedRejection | FoundPayment) -> Any:
    """Return the customer with the customer_key, else the customer created from the click."""
    customer = None
    if named.customer_key is not None:
        customer = _one(connection, customers, program_id, customers.c.customer_key == named.customer_key)
    if customer is None and named.click_id is not None:
        customer = _one(connection, customers, program_id, customers.c.click_id == named.click_id)
    return customer


def _sale(connection: Connection, program_id: int, subject: Subject, customer: Any) -> Any:
    """Return the sale with this transaction_id; for a person, their newest one."""
    if subject.transaction_id is not None:
        return _one(connection, sales, program_id, sales.c.transaction_id == subject.transaction_id)
    if customer is not None:
        return _one(connection, sales, program_id, sales.c.customer_id == customer.id, newest=True)
    return None


def _click(connection: Connection, program_id: int, named: Any) -> Any:
    return named.click_id and _one(connection, clicks, program_id, clicks.c.click_id == named.click_id)


def _commission(connection: Connection, program_id: int, sale: Any) -> Commission | None:
    row = sale and _one(connection, earned, program_id, earned.c.sale_id == sale.id)
    return commissions.get_commission(connection, program_id, row.id) if row else None


def _terms(connection: Connection, program: Program, sale: Any) -> Terms | None:
    """Return the terms that priced the sale; if it earned nothing, those in force when it was received."""
    version = select(earned.c.terms_version).where(earned.c.program_id == program.id)
    priced = sale and connection.execute(version.where(earned.c.sale_id == sale.id)).scalar()
    mine = select(commission_terms).where(commission_terms.c.program_id == program.id)
    if priced:
        mine = mine.where(commission_terms.c.version == priced)
    elif sale:
        mine = mine.where(commission_terms.c.created_at <= sale.at)
    row = connection.execute(mine.order_by(commission_terms.c.version.desc()).limit(1)).first()
    if row is None:
        return None
    kind = CommissionType(row.commission_type)
    later = (row.recurring_months, row.platform_fee_bps, row.minimum_order_cents)
    return Terms(row.version, kind, row.rate, row.lead_commission_cents, *later)


def _lead(connection: Connection, program_id: int, customer: Any) -> Any:
    return customer and _one(connection, leads, program_id, leads.c.customer_id == customer.id, newest=True)


def _outranked(connection: Connection, program_id: int, customer: Any) -> list[Any]:
    """Return the browsers' leads for other clicks that the customer's call outranks, with their partners' codes."""
    if customer is None:
        return []
    sent_by = (partners.c.program_id == leads.c.program_id) & (partners.c.id == leads.c.partner_id)
    rows = select(leads.c.customer_id, leads.c.outranked_at, partners.c.code).join(partners, sent_by)
    mine = (leads.c.program_id == program_id, leads.c.outranked_by == customer.id)
    return list(connection.execute(rows.where(*mine).order_by(leads.c.id).limit(MOST_REJECTED)).all())


def _refunds(connection: Connection, program_id: int, sale: Any) -> list[Any]:
    if sale is None:
        return []
    rows = select(refund_events).where(refund_events.c.program_id == program_id, refund_events.c.sale_id == sale.id)
    return list(connection.execute(rows.order_by(refund_events.c.id)).all())


def _rejected(connection: Connection, program_id: int, subject: Subject) -> list[LoggedRejection]:
    call = refused_calls.c
    named = [getattr(call, name) == value for name, value in subject._asdict().items() if value is not None]
    rows = select(refused_calls).where(call.program_id == program_id, *named).order_by(call.id.desc())
    return [rejected_calls.of_row(row) for row in connection.execute(rows.limit(MOST_REJECTED))]


def _tested(connection: Connection, program_id: int, subject: Subject) -> bool:
    if subject.transaction_id is None:
        return False
    same = test_events.c.transaction_id == subject.transaction_id
    return _one(connection, test_events, program_id, same) is not None
