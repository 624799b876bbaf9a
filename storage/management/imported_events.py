"""A customer or a commission of another tool as events of this one, at their own times, with what was earned."""

import secrets
from datetime import datetime, timedelta

from sqlalchemy import Connection, insert, select

from storage.management import commission_decisions
from storage.rules import contact, keys
from storage.rules.commission import CommissionStatus, CommissionType
from storage.rules.errors import ServiceError
from storage.rules.tool_exports import ImportedCommission, ImportedCustomer
from storage.tables import customers, payment_customers, programs, sales
from storage.tracking import clicks, leads, program_terms
from storage.tracking import sales as recorded_sales
from storage.tracking.clicks import Click, ClickResult
from storage.tracking.lead_decisions import Lead
from storage.tracking.program_terms import ProgramTerms
from storage.tracking.sale_decisions import Provenance, Sale, SaleResult

FILTERED = "import"  # why the click that stands for the old tool's does not count
REPORTED_BY = Provenance.OPERATOR
FOR_EVER_DAYS = 100_000
STRIPE = "cus_"
DECIDED = {
    CommissionStatus.PENDING: (),
    CommissionStatus.APPROVED: (CommissionStatus.APPROVED,),
    CommissionStatus.PAID: (CommissionStatus.APPROVED, CommissionStatus.PAID),
    CommissionStatus.REJECTED: (CommissionStatus.REJECTED,),
}


def customer(connection: Connection, program_id: int, imported: ImportedCustomer, code: str, *, at: datetime) -> bool:
    """Attribute a customer to a partner by a click and a lead of their own, unless they are there.

    The lead earns nothing: what was earned is in the commissions. Raises ServiceError, ValueError.
    """
    if _key_of(connection, program_id, imported) is not None:
        return False
    happened_at = spread(imported.at or at)
    clicked = _click(connection, program_id, code, happened_at)
    known = contact.protect(imported.email) if imported.email else None
    lead = Lead(clicked, imported.customer_key, happened_at, contact=known)
    (led,) = leads.record(connection, [(_terms(connection, program_id, cents=0), lead)])
    if isinstance(led, ServiceError):
        raise led
    if imported.customer_key.startswith(STRIPE):
        link = {"program_id": program_id, "processor_customer": imported.customer_key, "click_id": clicked}
        connection.execute(insert(payment_customers).values(link))
    return True


def commission(connection: Connection, program_id: int, imported: ImportedCommission, code: str) -> bool:
    """Record a sale with what it earned and its decision, unless it is there. Raises ServiceError, ValueError."""
    mine = (sales.c.program_id == program_id, sales.c.transaction_id == imported.transaction_id)
    if connection.execute(select(sales.c.id).where(*mine)).scalar() is not None:
        return False
    terms = _terms(connection, program_id, cents=imported.cents)
    if terms.currency != imported.currency:
        raise ValueError(f"it is in {imported.currency}, and the program's currency is {terms.currency}")
    who = imported.customer._replace(at=imported.customer.at or imported.at)
    customer(connection, program_id, who, code, at=imported.at)
    happened_at = spread(imported.at)
    sale = Sale(
        imported.transaction_id,
        imported.sale_cents,
        happened_at,
        customer_key=_key_of(connection, program_id, who),
        currency=imported.currency,
        provenance=REPORTED_BY,
    )
    (sold,) = recorded_sales.record(connection, [(terms, sale)])
    if isinstance(sold, ServiceError):
        raise sold
    _decide(connection, program_id, sold, imported)
    return True


def spread(at: datetime) -> datetime:
    """Return a time in the same second: ids are drawn from times, and exports have many rows of one day or second."""
    return at.replace(microsecond=0) + timedelta(microseconds=secrets.randbelow(1_000_000))


def _decide(connection: Connection, program_id: int, sold: SaleResult, imported: ImportedCommission) -> None:
    is_sandbox = connection.execute(select(programs.c.sandbox_of).where(programs.c.id == program_id)).scalar()
    for status in DECIDED[imported.status] if sold.commission_id is not None else ():
        if status == CommissionStatus.PAID and is_sandbox is not None:
            continue  # trials pay no one
        at = imported.paid_at if status == CommissionStatus.PAID and imported.paid_at else imported.at
        commission_id = sold.commission_id or 0
        commission_decisions.change_status(connection, program_id, commission_id, status, at=at, overrides_hold=True)


def _click(connection: Connection, program_id: int, code: str, at: datetime) -> str:
    """Record a click that stands for the old tool's, and return its id. Raises ServiceError, ValueError."""
    domain = connection.execute(select(programs.c.domain).where(programs.c.id == program_id)).scalar_one()
    landing = f"https://{domain}/"
    click = Click(program_id, code, landing, at, keys.click_id(program_id, at), filtered=FILTERED)
    (clicked,) = clicks.record(connection, [click])
    if isinstance(clicked, ServiceError):
        raise clicked
    if not isinstance(clicked, ClickResult):
        raise ValueError(clicked.message)  # noqa: TRY004 - about the row, not about a type
    return clicked.click_id


def _key_of(connection: Connection, program_id: int, imported: ImportedCustomer) -> str | None:
    """Return the key of the customer: the one that is given, else that of a customer with the same e-mail address."""
    mine = customers.c.program_id == program_id
    given = select(customers.c.customer_key).where(mine, customers.c.customer_key == imported.customer_key)
    found = connection.execute(given).scalar()
    if found is None and imported.email and imported.is_unnamed:
        hashed = contact.protect(imported.email).hash
        same = select(customers.c.customer_key).where(mine, customers.c.email_hash == hashed)
        found = connection.execute(same.where(customers.c.customer_key.is_not(None)).order_by(customers.c.id)).scalar()
    return found


def _terms(connection: Connection, program_id: int, *, cents: int) -> ProgramTerms:
    """Return the program's terms in force, but with these earnings, and without windows and minimum orders."""
    program = program_terms.load_one(connection, program_id)
    terms = program.terms._replace(
        type=CommissionType.FLAT, rate=cents, lead_commission_cents=0, recurring_months=None, minimum_order_cents=0
    )
    return program._replace(terms=terms, attribution_window_days=FOR_EVER_DAYS, has_payments=False)
