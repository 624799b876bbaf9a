"""Commissions as they are listed: what each earned, what it is worth now, and what holds it."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import Connection, Select, func, or_, select

from storage.engine import pagination
from storage.engine.pagination import FIRST_PAGE, Page, Paging
from storage.management import flags
from storage.rules.commission import CommissionStatus
from storage.rules.errors import NotFound
from storage.rules.fraud.flag import FlagKind
from storage.rules.periods.period import ALWAYS, Span
from storage.tables import commissions, customers, leads, ledger_entries, partners, sales
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
        raise NotFound("The program has no such commission.")
    return with_flags(connection, program_id, [of_row(row)])[0]


def of_customer(connection: Connection, program_id: int, customer_id: int) -> list[Commission]:
    """Return what a customer's lead and sales earned, oldest first."""
    from_sale = select(sales.c.id).where(sales.c.program_id == program_id, sales.c.customer_id == customer_id)
    from_lead = select(leads.c.id).where(leads.c.program_id == program_id, leads.c.customer_id == customer_id)
    by_cause = or_(commissions.c.sale_id.in_(from_sale), commissions.c.lead_id.in_(from_lead))
    mine = select_rows().where(commissions.c.program_id == program_id, by_cause)
    rows = connection.execute(mine.order_by(commissions.c.id)).all()
    return with_flags(connection, program_id, [of_row(row) for row in rows])


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
