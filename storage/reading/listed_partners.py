"""The list of partners that people read: what each brought in a window, searched, filtered, sorted and added up."""

from typing import Any, NamedTuple

from sqlalchemy import Connection, func, select

from storage.engine import listing
from storage.engine.listing import Columns, Listed, ListQuery
from storage.management import balances
from storage.management import partners as stored
from storage.management.partners import Partner
from storage.rules.attribution import PartnerStatus
from storage.rules.periods.period import Window
from storage.tables import ledger_entries, partner_rollups, partners

FIGURES = ("clicks", "leads", "conversions", "revenue_cents", "commission_cents")


class ListedPartner(NamedTuple):
    """A partner with what they brought in the window; money is in cents of the program's currency."""

    partner: Partner
    clicks: int
    leads: int
    conversions: int
    revenue_cents: int
    commission_cents: int


class PartnerMatch(NamedTuple):
    """What partners have to match; `search` is in their name, code or e-mail address."""

    search: str | None = None
    status: PartnerStatus | None = None


def read(
    connection: Connection, program_id: int, query: ListQuery, match: PartnerMatch, window: Window
) -> Listed[ListedPartner]:
    """Return a page of the partners that match. Raises ValidationError for an invalid cursor.

    What to pay them is added up, and they are sorted by it, while the ledger has at most 20,000 entries.
    """
    day, row = partner_rollups.c, partners.c
    brought = (
        select(day.partner_id, *(func.sum(day[name]).label(name) for name in FIGURES))
        .where(day.program_id == program_id, day.day.between(window.first, window.last))
        .group_by(day.partner_id)
        .subquery("brought")
    )
    figures = {name: func.coalesce(brought.c[name], 0) for name in FIGURES}
    joined = brought.c.partner_id == row.id
    matching = select(row.id).outerjoin_from(partners, brought, joined).where(row.program_id == program_id)
    if match.status is not None:
        matching = matching.where(row.status == match.status)
    if match.search is not None:
        matching = matching.where(row.id.in_(stored.named(program_id, match.search)))
    shown = stored.select_rows().add_columns(*(figure.label(name) for name, figure in figures.items()))
    rows = shown.outerjoin(brought, joined).where(row.program_id == program_id)
    added = figures | ({"to_pay": balances.to_pay_cents()} if _is_short(connection, program_id) else {})
    columns = Columns(row.id, {"name": func.lower(row.name), **added}, added)
    return listing.read(connection, matching, rows, columns, query, of_row=_of_row)


def _is_short(connection: Connection, program_id: int) -> bool:
    """Return whether a program's ledger is short enough to be read whole."""
    entry = ledger_entries.c
    further = select(entry.id).where(entry.program_id == program_id).offset(listing.MOST_ROWS).limit(1)
    return connection.execute(further).first() is None


def _of_row(row: Any) -> ListedPartner:
    return ListedPartner(stored.of_row(row), *(int(getattr(row, name)) for name in FIGURES))
