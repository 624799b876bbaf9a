"""Commissions: what leads and sales earned, what the ledger has of it now, what holds it, and what it follows from."""

import json
from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Any, NamedTuple

from sqlalchemy import BigInteger, ColumnElement, Connection, case, cast, func, literal, or_, select

from storage.engine.cursors import LARGEST_ID, within
from storage.engine.statements import read_statement
from storage.lists import held
from storage.lists.declaration import PROGRAM, Column, Filter, List, ListScope, Theirs
from storage.lists.find import get
from storage.lists.partners import named
from storage.lists.related import of_customer, of_partner, of_sale, with_key
from storage.rules.commission import CommissionStatus, Terms, explained_terms
from storage.rules.fraud.flag import FlagKind
from storage.rules.periods.period import Span
from storage.rules.untrusted import Untrusted
from storage.tables import audit_entries, commissions, ledger_entries, sales
from storage.tables.columns import Timestamp, stored_millis
from storage.tracking.ledger import PARTNER_KINDS, EntryKind

_row = commissions.c
SEEN_BY_PARTNERS = (
    "id created_at sale_id lead_id status amount_cents net_cents set_off_cents paid_out_cents currency hold_until"
    " paid_at"
)
_TERMS = read_statement("terms_of_commission", created_at=Timestamp)
LATEST = 10**14  # milliseconds: later than any time


def net_cents(*kinds: EntryKind) -> Any:
    """Return the column of what the ledger holds of a commission; without `kinds` what it is worth to its partner."""
    entry = ledger_entries.c
    theirs = (entry.program_id == _row.program_id, entry.commission_id == _row.id)
    total = select(func.coalesce(func.sum(entry.amount_cents), 0)).where(*theirs)
    return total.where(entry.kind.in_(kinds or PARTNER_KINDS)).correlate(commissions).scalar_subquery()


# What waits longest has the largest: pending ones by their hold, then approved ones.
_WAITS = case(
    (_row.status == CommissionStatus.PENDING, 2 * LATEST - stored_millis(_row.hold_until)),
    (_row.status == CommissionStatus.APPROVED, LATEST - stored_millis(_row.created_at)),
    else_=0,
)


class Commission(NamedTuple):
    """A commission in cents of `currency`: `amount_cents` as earned, `net_cents` after refunds and a rejection.

    Its payout was of `paid_out_cents`, what it was worth then, less `set_off_cents`, which the partner owed.
    `flags` are the signs of fraud or of a duplicate that hold it: it cannot be approved or paid. `credited_by` credited
    it by hand.
    """

    id: int
    created_at: Annotated[datetime, Column("Earned", is_day=True)]
    partner_id: int
    partner_name: Annotated[Untrusted, Column("Partner", of_partner(commissions, "name"), sorts=True)]
    partner_code: Annotated[Untrusted, Column(sql=of_partner(commissions, "code"))]
    customer_id: int
    customer_key: Annotated[Untrusted | None, Column("Customer", of_customer(commissions, "customer_key"))]
    sale_id: int | None
    lead_id: int | None
    transaction_id: Annotated[Untrusted | None, Column(sql=of_sale(commissions, "transaction_id"))]
    status: Annotated[CommissionStatus, Column("Status")]
    amount_cents: int
    net_cents: Annotated[int, Column("Commission", net_cents(), sorts=True, is_summed=True)]
    set_off_cents: Annotated[int, Column(sql=net_cents(EntryKind.SET_OFF))]
    paid_out_cents: Annotated[int, Column(sql=-net_cents(EntryKind.PAYOUT))]
    currency: str
    hold_until: Annotated[datetime, Column("Hold until", sorts=True, is_day=True)]
    paid_at: datetime | None
    credited_by: Untrusted | None
    program_id: Annotated[int, Column(is_internal=True)]
    waits: Annotated[int, Column(sql=_WAITS, sorts=True, is_internal=True)]
    flags: Sequence[FlagKind] = ()


class CommissionDetails(NamedTuple):
    """A commission, the terms that hold since `terms_since`, its ledger entries, and its sale (None for a lead's)."""

    commission: Commission
    terms: Terms
    terms_since: datetime
    sale: Any
    entries: Sequence[Any]


def _ready(moment: datetime) -> ColumnElement[bool]:
    return (_row.status == CommissionStatus.PENDING) & (_row.hold_until <= moment) & ~held.is_held()


def _approved(since: datetime | None, until: datetime | None = None) -> ColumnElement[bool]:
    """Return the condition for what was approved in a span, by the audit log, and is no longer pending."""
    entry = audit_entries.c
    approved = json.dumps(CommissionStatus.APPROVED)
    changed = (entry.program_id == PROGRAM, entry.action == "commission.decide", entry.field == "status")
    then = (entry.after == approved, *within(entry.id, entry.at, Span(since, until)))
    return (_row.status != CommissionStatus.PENDING) & _row.id.in_(
        select(cast(entry.subject_id, BigInteger)).where(*changed, *then)
    )


def _search(scope: ListScope, text: str) -> ColumnElement[bool]:
    sale = (sales.c.program_id == scope.program_id, sales.c.transaction_id == text)
    is_id = text.isascii() and text.isdigit() and int(text) < LARGEST_ID
    return or_(
        _row.partner_id.in_(named(scope.program_id, text)),
        with_key(commissions, scope.program_id, text),
        _row.sale_id.in_(select(sales.c.id).where(*sale)),
        *([_row.id == literal(int(text), BigInteger)] if is_id else []),
    )


def _with_flags(connection: Connection, scope: ListScope, rows: list[Commission]) -> list[Commission]:
    kinds = held.kinds_by_commission(connection, scope.program_id, [row.id for row in rows])
    return [row._replace(flags=kinds[row.id]) if row.id in kinds else row for row in rows]


COMMISSIONS = List(
    "commissions",
    Commission,
    commissions,
    at=_row.created_at,
    theirs=Theirs(_row.partner_id, SEEN_BY_PARTNERS),
    filters=(
        Filter("status", CommissionStatus, "pending, approved, rejected, paid or reversed.", _row.status.__eq__),
        Filter("ready_at", datetime, "Only those that can be approved at this ISO 8601 date or time.", _ready),
        Filter("flag_id", int, "Only what this flag holds.", held.is_held_by),
        Filter("flagged", bool, "Only what a flag keeps from approval and payment, or all else.", held.is_held().is_),
        Filter("partner_id", int, "Only this partner's.", _row.partner_id.__eq__),
        Filter("customer_id", int, "Only this customer's.", _row.customer_id.__eq__),
        Filter("paid_from", datetime, "Only those paid from this ISO 8601 date or time on.", _row.paid_at.__ge__),
        Filter("paid_to", datetime, "Only those paid until it.", _row.paid_at.__lt__),
        Filter("approved_from", datetime, "Only those approved from this ISO 8601 date or time on.", _approved),
        Filter("approved_to", datetime, "Only those approved until it.", lambda until: _approved(None, until)),
    ),
    finds="Partner, customer key or transaction id",
    search=_search,
    finish=_with_flags,
)


def get_details(connection: Connection, program_id: int, commission_id: int, *, at: datetime) -> CommissionDetails:
    """Return one commission of a program. Raises NotFound."""
    commission = get(connection, COMMISSIONS, ListScope(program_id, at), commission_id)
    row = connection.execute(_TERMS, {"program_id": program_id, "commission_id": commission_id}).one()
    mine = select(sales).where(sales.c.program_id == program_id, sales.c.id == commission.sale_id)
    entry = ledger_entries.c
    its_own = select(ledger_entries).where(entry.program_id == program_id, entry.commission_id == commission_id)
    entries = connection.execute(its_own.order_by(entry.id)).all()
    sale = connection.execute(mine).one_or_none()
    return CommissionDetails(commission, explained_terms(row), row.created_at, sale, entries)
