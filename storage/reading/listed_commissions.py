"""The list of commissions that people read: searched, filtered, sorted and added up."""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import BigInteger, ColumnElement, Connection, func, literal, or_, select, type_coerce

from storage.engine import listing, pagination
from storage.engine.listing import Columns, Listed, ListQuery
from storage.engine.pagination import LARGEST_ID
from storage.management import commissions as stored
from storage.management import partners as enrolled
from storage.management.commissions import Commission
from storage.rules.commission import CommissionStatus
from storage.rules.periods.period import ALWAYS, Span
from storage.tables import commissions, customers, partners, sales


class CommissionMatch(NamedTuple):
    """What commissions have to match. `ready_at` selects the pending ones whose hold ends by then.

    `search` is in the partner's name or code, or it is the customer key, the transaction_id or the id.
    """

    search: str | None = None
    status: CommissionStatus | None = None
    partner_id: int | None = None
    ready_at: datetime | None = None
    created: Span = ALWAYS


def read(connection: Connection, program_id: int, query: ListQuery, match: CommissionMatch) -> Listed[Commission]:
    """Return a page of the commissions that match. Raises ValidationError for an invalid cursor."""
    row, net = commissions.c, stored.net_cents()
    theirs = (partners.c.program_id == row.program_id, partners.c.id == row.partner_id)
    partner = select(func.lower(partners.c.name)).where(*theirs).correlate(commissions).scalar_subquery()
    sorts = {"hold_until": type_coerce(row.hold_until, BigInteger), "net": net, "partner": partner}
    matching = select(row.id).where(*_conditions(program_id, match))
    rows = stored.select_rows().where(row.program_id == program_id)
    listed = listing.read(connection, matching, rows, Columns(row.id, sorts, {"net": net}), query, of_row=stored.of_row)
    return listed._replace(data=stored.with_flags(connection, program_id, listed.data))


def list_ids(connection: Connection, program_id: int, match: CommissionMatch, *, limit: int) -> list[int]:
    """Return the ids of the commissions that match, the oldest ones up to the limit."""
    row = commissions.c
    oldest = select(row.id).where(*_conditions(program_id, match)).order_by(row.id).limit(limit)
    return list(connection.execute(oldest).scalars())


def get_each(connection: Connection, program_id: int, ids: Sequence[int]) -> list[Commission]:
    """Return those of a program's commissions that have these ids, newest first."""
    mine = (commissions.c.program_id == program_id, commissions.c.id.in_(ids))
    rows = connection.execute(stored.select_rows().where(*mine).order_by(commissions.c.id.desc()))
    return [stored.of_row(row) for row in rows]


def _conditions(program_id: int, match: CommissionMatch) -> list[ColumnElement[bool]]:
    row = commissions.c
    conditions = [row.program_id == program_id, *pagination.within(row.id, row.created_at, match.created)]
    equal = {row.status: match.status, row.partner_id: match.partner_id}
    conditions += [column == value for column, value in equal.items() if value is not None]
    if match.ready_at is not None:
        conditions += [row.status == CommissionStatus.PENDING, row.hold_until <= match.ready_at]
    if match.search is not None:
        conditions.append(_found(program_id, match.search))
    return conditions


def _found(program_id: int, search: str) -> ColumnElement[bool]:
    row = commissions.c
    buyer = (customers.c.program_id == program_id, customers.c.customer_key == search)
    sale = (sales.c.program_id == program_id, sales.c.transaction_id == search)
    either: list[ColumnElement[bool]] = [
        row.partner_id.in_(enrolled.named(program_id, search)),
        row.customer_id.in_(select(customers.c.id).where(*buyer)),
        row.sale_id.in_(select(sales.c.id).where(*sale)),
    ]
    if search.isascii() and search.isdigit() and int(search) < LARGEST_ID:
        either.append(row.id == literal(int(search), BigInteger))
    return or_(*either)
