"""Commissions: listing them, and changing their status from pending to paid or rejected."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import Connection, Select, func, or_, select, update

from storage.engine import audit, pagination
from storage.engine.audit import Actor, Change
from storage.engine.pagination import FIRST_PAGE, Page, Paging
from storage.management import agent_caps, flags
from storage.rules.commission import MAY_BECOME, CommissionStatus
from storage.rules.errors import (
    CommissionOnHold,
    FieldError,
    NotFound,
    SecondKeyRequired,
    ServiceError,
    ValidationError,
)
from storage.rules.fraud.flag import FlagKind
from storage.rules.periods.period import ALWAYS, Span
from storage.tables import commissions, customers, leads, ledger_entries, partners, sales
from storage.tracking import payouts, rollups, taken_back
from storage.tracking.ledger import PARTNER_KINDS, EntryKind


class Commission(NamedTuple):
    """A commission in cents of `currency`: `amount_cents` as earned, `net_cents` as the ledger has it now.

    Its payout was of `paid_out_cents`, what it was worth then, less `set_off_cents`, which the partner owed.
    `flags` are the signs of fraud that hold it.
    """

    program_id: int
    id: int
    partner_id: int
    partner_name: str
    partner_code: str
    customer_id: int
    customer_key: str | None
    sale_id: int | None
    lead_id: int | None
    transaction_id: str | None
    amount_cents: int
    net_cents: int
    set_off_cents: int
    paid_out_cents: int
    currency: str
    status: CommissionStatus
    created_at: datetime
    hold_until: datetime
    paid_at: datetime | None
    flags: Sequence[FlagKind] = ()


def list_commissions(
    connection: Connection,
    program_id: int,
    paging: Paging = FIRST_PAGE,
    *,
    status: CommissionStatus | None = None,
    partner_id: int | None = None,
    customer_id: int | None = None,
    ready_at: datetime | None = None,
    created: Span = ALWAYS,
    paid: Span = ALWAYS,
) -> Page[Commission]:
    """Return a page of a program's commissions, newest first; only those that match the filters.

    `ready_at` selects the pending ones whose hold ends by then.
    """
    mine = select_rows().where(commissions.c.program_id == program_id)
    equal = {"status": status, "partner_id": partner_id, "customer_id": customer_id}
    mine = mine.where(*(commissions.c[name] == value for name, value in equal.items() if value is not None))
    mine = mine.where(*pagination.within(commissions.c.id, commissions.c.created_at, created))
    if paid.since is not None:
        mine = mine.where(commissions.c.paid_at >= paid.since)
    if paid.until is not None:
        mine = mine.where(commissions.c.paid_at < paid.until)
    if ready_at is not None:
        mine = mine.where(commissions.c.status == CommissionStatus.PENDING, commissions.c.hold_until <= ready_at)
    page = pagination.by_id(connection, mine, commissions.c.id, paging, of_row)
    return page._replace(data=with_flags(connection, program_id, page.data))


def get_commission(connection: Connection, program_id: int, commission_id: int) -> Commission:
    """Return one commission of a program. Raises NotFound."""
    mine = (commissions.c.program_id == program_id, commissions.c.id == commission_id)
    row = connection.execute(select_rows().where(*mine)).one_or_none()
    if row is None:
        raise _not_found()
    return with_flags(connection, program_id, [of_row(row)])[0]


def of_customer(connection: Connection, program_id: int, customer_id: int) -> list[Commission]:
    """Return what a customer's lead and sales earned, oldest first."""
    from_sale = select(sales.c.id).where(sales.c.program_id == program_id, sales.c.customer_id == customer_id)
    from_lead = select(leads.c.id).where(leads.c.program_id == program_id, leads.c.customer_id == customer_id)
    by_cause = or_(commissions.c.sale_id.in_(from_sale), commissions.c.lead_id.in_(from_lead))
    mine = select_rows().where(commissions.c.program_id == program_id, by_cause)
    rows = connection.execute(mine.order_by(commissions.c.id)).all()
    return with_flags(connection, program_id, [of_row(row) for row in rows])


def decide(
    connection: Connection,
    program_id: int,
    commission_id: int,
    status: CommissionStatus,
    *,
    actor: Actor,
    at: datetime,
    override_hold_reason: str | None = None,
) -> Commission:
    """Approve, reject or pay a commission, log it, and return it; raises the errors of `change_status`.

    With a reason an owner approves it while it is on hold; an agent key cannot.
    """
    overrides = override_hold_reason is not None and not actor.is_agent
    before = change_status(connection, program_id, commission_id, status, actor=actor, at=at, overrides_hold=overrides)
    commission = get_commission(connection, program_id, commission_id)
    entries = [Change("commission.decide", commission_id, "status", before, status)]
    if status == CommissionStatus.APPROVED and at < commission.hold_until:
        entries.append(Change("commission.decide", commission_id, "override_hold_reason", None, override_hold_reason))
    audit.write(connection, program_id, entries, actor=actor, at=at)
    return commission


def decide_each(
    connection: Connection,
    program_id: int,
    commission_ids: Sequence[int],
    status: CommissionStatus,
    *,
    actor: Actor,
    at: datetime,
) -> dict[int, Commission | ServiceError]:
    """Move many commissions to one status; each gets its own result, and an error in one does not stop the others."""
    results: dict[int, Commission | ServiceError] = {}
    for commission_id in sorted(set(commission_ids)):
        try:
            results[commission_id] = decide(connection, program_id, commission_id, status, actor=actor, at=at)
        except ServiceError as error:
            results[commission_id] = error
    return results


def change_status(
    connection: Connection,
    program_id: int,
    commission_id: int,
    status: CommissionStatus,
    *,
    at: datetime,
    actor: Actor | None = None,
    overrides_hold: bool = False,
) -> CommissionStatus:
    """Move a commission to a status and return the one it had.

    A rejection takes back what the ledger holds; a payment settles it by a payout.

    Raises NotFound for a commission of another program, ValidationError for a transition that is not allowed,
    CommissionOnHold for an approval before `hold_until`, CommissionFlagged for one that a sign of fraud holds,
    SecondKeyRequired where the owner wants two keys.
    """
    mine = (commissions.c.program_id == program_id, commissions.c.id == commission_id)
    commission = connection.execute(select(commissions).where(*mine).with_for_update()).one_or_none()
    if commission is None:
        raise _not_found()
    before = CommissionStatus(commission.status)
    if status not in MAY_BECOME[before]:
        field = FieldError("status", f"A commission that is {before} cannot become {status}")
        raise ValidationError(fields=[field])
    _require_free(connection, commission, status, until=None if overrides_hold else at)
    key_id = int(actor.id) if actor and actor.is_agent else None
    if status == CommissionStatus.PAID and key_id is not None and key_id == commission.approved_by_key_id:
        _allow_one_key(connection, program_id)
    values: dict[str, Any] = {"status": status, "paid_at": at if status == CommissionStatus.PAID else None}
    if status == CommissionStatus.APPROVED:
        values["approved_by_key_id"] = key_id
    connection.execute(update(commissions).where(*mine).values(values))
    if status == CommissionStatus.REJECTED:
        rollups.add(connection, [taken_back.take_back(connection, commission, EntryKind.REJECTION, at=at)])
    elif status == CommissionStatus.PAID:
        payouts.record(connection, commission, at=at)
    return before


def _require_free(connection: Connection, commission: Any, status: CommissionStatus, *, until: datetime | None) -> None:
    """Raise CommissionOnHold or CommissionFlagged for what may not be approved or paid `until` now (None: any time)."""
    if status == CommissionStatus.APPROVED and until is not None and until < commission.hold_until:
        raise CommissionOnHold(f"The commission is on hold until {commission.hold_until:%Y-%m-%d %H:%M} UTC.")
    if status == CommissionStatus.PAID:
        payouts.require_live(connection, commission.program_id)
    if status in {CommissionStatus.APPROVED, CommissionStatus.PAID}:
        flags.require_unflagged(connection, commission)


def _allow_one_key(connection: Connection, program_id: int) -> None:
    if agent_caps.get_caps(connection, program_id).two_keys_to_pay:
        raise SecondKeyRequired


def _not_found() -> NotFound:
    return NotFound("The program has no such commission.")


def net_cents(*kinds: EntryKind) -> Any:
    """Return the column of what the ledger holds of a commission; without `kinds` what it is worth to its partner."""
    earned, entry = commissions.c, ledger_entries.c
    theirs = (entry.program_id == earned.program_id, entry.commission_id == earned.id)
    total = select(func.coalesce(func.sum(entry.amount_cents), 0)).where(*theirs)
    return total.where(entry.kind.in_(kinds or PARTNER_KINDS)).correlate(commissions).scalar_subquery()


def select_rows() -> Select[Any]:
    """Return the statement that reads commissions with their partner, customer and sale."""
    earned = commissions.c
    joined = (
        commissions.join(partners, (partners.c.program_id == earned.program_id) & (partners.c.id == earned.partner_id))
        .join(customers, (customers.c.program_id == earned.program_id) & (customers.c.id == earned.customer_id))
        .outerjoin(sales, (sales.c.program_id == earned.program_id) & (sales.c.id == earned.sale_id))
    )
    return select(
        commissions,
        partners.c.name.label("partner_name"),
        partners.c.code.label("partner_code"),
        customers.c.customer_key,
        sales.c.transaction_id,
        net_cents().label("net_cents"),
        net_cents(EntryKind.SET_OFF).label("set_off_cents"),
        (-net_cents(EntryKind.PAYOUT)).label("paid_out_cents"),
    ).select_from(joined)


def with_flags(connection: Connection, program_id: int, rows: Sequence[Commission]) -> list[Commission]:
    """Return commissions with the signs of fraud that hold each."""
    held = flags.holding(connection, program_id, rows)
    return [row._replace(flags=held[row.id]) if row.id in held else row for row in rows]


def of_row(row: Any) -> Commission:
    """Read a commission."""
    values = {name: getattr(row, name) for name in Commission._fields if name != "flags"}
    cents = {name: int(values[name]) for name in ("net_cents", "set_off_cents", "paid_out_cents")}
    return Commission(**values | cents | {"status": CommissionStatus(row.status)})
