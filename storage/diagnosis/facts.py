"""The facts that an explanation uses: what is stored about a sale, a customer or a click."""

import json
from collections.abc import Callable, Iterable
from datetime import datetime
from functools import partial
from typing import Any, NamedTuple

from sqlalchemy import Connection, select

from storage.engine.statements import read_statement
from storage.lists import rejected_calls
from storage.lists.commissions import COMMISSIONS
from storage.lists.declaration import ListScope
from storage.lists.find import get, rows
from storage.lists.programs import read_program
from storage.lists.rejected_calls import WITH_ORGANIC, RejectedCall
from storage.payments import event_log
from storage.rules import attribution, keys, outcome
from storage.rules.commission import Terms, explained_terms
from storage.rules.errors import DuplicateTransaction
from storage.rules.payment import Paid, PaymentOutcome
from storage.tables import commission_terms, metadata
from storage.tracking import terms_in_force
from storage.tracking.terms_in_force import TermsSubject

MOST_REJECTED = 10
UNPAID = {outcome.SaleOutcome.PAYMENT_NOT_A_SALE, outcome.SaleOutcome.PAYMENT_MISSING}
_OUTRANKED, _REFUNDS, _REJECTED = map(read_statement, ("outranked_codes", "refunds_of_sale", "rejected_about"))
COUNTED = {PaymentOutcome.RECORDED, PaymentOutcome.REPEATED, PaymentOutcome.SAME}


class Subject(NamedTuple):
    """The identifier to explain; exactly one of the three is set."""

    transaction_id: str | None = None
    customer_key: str | None = None
    click_id: str | None = None


class FoundPayment(NamedTuple):
    """An event about a payment without a recorded sale; `meaning` says why it has none."""

    event_id: str
    meaning: str
    transaction_id: str | None
    click_id: str | None
    customer_key: str | None


class Facts:
    """The rows about a sale, each None where there is none; or about a rejected call, and then `sale` is None."""

    def __init__(self, connection: Connection, program_id: int, subject: Subject, *, at: datetime) -> None:
        """Read the stored facts about a subject. Raises NotFound when there is no such program."""
        self.subject, self.at = subject, at
        self.program = read_program(connection, program_id)
        one = partial(_one, connection, program_id)
        self.customer: Any = _customer(one, subject)
        sale = _sale(one, subject, self.customer)
        payment: FoundPayment | str | None = None
        if not sale and not self.customer:
            payment = _payment(one, event_log.find(connection, program_id, _names(subject)), subject)
        if isinstance(payment, str):
            sale, payment = _sale(one, Subject(payment), None), None
        self.rejected_calls = _rejected(connection, program_id, subject, self.customer, at=at)
        self.rejected = _deciding(subject, sale, self.rejected_calls)
        self.sale: Any = None if self.rejected else sale
        self.payment = None if self.rejected else payment  # the processor's event, if it is no sale
        if self.sale is not None:
            self.customer = one("customers", id=sale.customer_id)
        elif self.customer is None and (event := self.rejected or self.payment):
            self.customer = _customer(one, event)
        named = self.customer or self.rejected or self.payment or subject
        self.click: Any = named.click_id and one("clicks", click_id=named.click_id)
        sent = self.customer or self.click
        self.coupon_code = json.loads(self.sale.details or "{}").get("coupon_code") if self.sale else None
        self.coupon = self.coupon_code and one("coupons", code_key=attribution.code_key(self.coupon_code))
        self.partner = one("partners", id=sent.partner_id) if sent else None
        earning = self.sale and one("commissions", sale_id=sale.id)
        scope = ListScope(program_id, at)
        self.commission = get(connection, COMMISSIONS, scope, earning.id) if earning else None
        self.terms = _terms(connection, program_id, self.sale or self.rejected, earning, self.partner)
        self.lead = self.customer and one("leads", newest=True, customer_id=self.customer.id)
        of: dict[str, Any] = {"program_id": program_id, "most": MOST_REJECTED}
        of |= {"customer_id": self.customer and self.customer.id, "sale_id": self.sale and self.sale.id}
        self.outranked_codes = list(connection.execute(_OUTRANKED, of).scalars()) if self.customer else []
        self.refunds = connection.execute(_REFUNDS, of).scalar_one() if self.sale else 0
        number = subject.transaction_id
        self.is_tested = number is not None and one("test_events", transaction_id=number) is not None
        self.first_purchase_at = self.customer.first_purchase_at if self.customer else None

    @property
    def compared_at(self) -> Any:
        """The time to compare with the window: that of the first sale, of the rejected call, else now."""
        call = self.rejected
        return self.first_purchase_at or (call and (call.occurred_at or call.at)) or self.at

    @property
    def in_window(self) -> bool:
        """Whether that time lies in the attribution window; a customer who has bought stays attributed."""
        if self.first_purchase_at is not None or self.click is None:
            return True
        counts = (self.click.at, self.compared_at, self.program.settings.attribution_window_days)
        until = None if self.customer else keys.click_until(self.click.click_id)
        return attribution.is_within(*counts, until=until)


def _deciding(subject: Subject, sale: Any, calls: list[RejectedCall]) -> RejectedCall | None:
    """Return the rejected call that decides: a sale before any other; None where the recorded sale decides."""
    if sale is not None:
        by_person = subject.transaction_id is None
        later = [call for call in calls if by_person and call.call == "sale" and call.at > sale.at]
        calls = [call for call in later if call.code != DuplicateTransaction.code]
    sale_calls = [call for call in calls if call.call == "sale"]
    return next(iter(sale_calls or calls), None)


def _one(connection: Connection, program_id: int, name: str, *, newest: bool = False, **known: Any) -> Any:
    """Return a row of the program, of the table with this name, by a column's value."""
    table = metadata.tables[name]
    rows = select(table).where(table.c.program_id == program_id, *(table.c[each] == known[each] for each in known))
    return connection.execute((rows.order_by(table.c.id.desc()) if newest else rows).limit(1)).first()


def _customer(one: Callable[..., Any], named: Subject | RejectedCall | FoundPayment) -> Any:
    """Return the customer with the customer_key, else the one known as it, else the one created from the click."""
    names = {"customer_key": named.customer_key, "known_as": named.customer_key, "click_id": named.click_id}
    found = (one("customers", **{name: value}) for name, value in names.items() if value is not None)
    return next(filter(None, found), None)


def _sale(one: Callable[..., Any], subject: Subject, customer: Any) -> Any:
    """Return the sale with this transaction_id; for a person, their newest one."""
    if subject.transaction_id is not None:
        return one("sales", transaction_id=subject.transaction_id)
    return one("sales", newest=True, customer_id=customer.id) if customer else None


def _terms(connection: Connection, program_id: int, call: Any, earning: Any, partner: Any) -> Terms:
    """Return the terms that priced the sale; if it earned nothing or was rejected, those in force when it came."""
    terms, partner_id = commission_terms.c, partner.id if partner else None
    if earning:
        priced = (terms.program_id == program_id, terms.version == earning.terms_version)
        return explained_terms(connection.execute(select(commission_terms).where(*priced)).one())
    if call:
        return terms_in_force.of_partner(connection, program_id, partner_id, call.at)
    return terms_in_force.find(connection, program_id, TermsSubject(partner_id, partner and partner.partner_group))


def _rejected(
    connection: Connection, program_id: int, subject: Subject, customer: Any, *, at: datetime
) -> list[RejectedCall]:
    """Return the newest rejected calls about a sale or click, or by any identifier of a customer."""
    theirs = customer.id if customer is not None and subject.transaction_id is None else None
    about = {"program_id": program_id, "customer_id": theirs, **subject._asdict()}
    found = connection.execute(
        _REJECTED, about | {"most": MOST_REJECTED, "most_calls": rejected_calls.MOST_CALLS}
    ).scalars()
    return rows(connection, WITH_ORGANIC, ListScope(program_id, at), [*found])


def _names(subject: Subject) -> list[str]:
    """Return the names of a subject in the log of the processor's events."""
    prefixes = ("", event_log.KEY, event_log.CLICK)
    return [prefix + value for prefix, value in zip(prefixes, subject, strict=True) if value]


def _payment(one: Callable[..., Any], named: Iterable[Any], subject: Subject) -> FoundPayment | str | None:
    """Return the transaction_id of the newest recorded payment's sale, else the newest payment, else any event."""
    by_id = one("payment_events", event_id=subject.transaction_id) if subject.transaction_id else None
    events = [*([by_id] if by_id else []), *named]
    references = [*(row.transaction_id for row in events if row.outcome in COUNTED), subject.transaction_id]
    for reference in filter(None, references):
        known = one("payment_references", reference=reference)
        paid: str = known.transaction_id if known else reference
        if one("sales", transaction_id=paid):
            return paid
    found = []
    for row in events:
        content = event_log.load(row.payment)
        meaning = outcome.of_payment(row.outcome, is_payment=isinstance(content, Paid))
        said = (getattr(content, name, None) for name in ("click_id", "customer_key"))
        found.append(FoundPayment(row.event_id, meaning, row.transaction_id, *said))
    return min(found, key=lambda each: each.meaning in UNPAID, default=None)
