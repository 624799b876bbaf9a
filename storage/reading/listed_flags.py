"""The list of signs of fraud that people review: searched, by state and partner, sorted, and paged both ways."""

from sqlalchemy import Connection, func, or_, select

from storage.engine import listing, pagination
from storage.engine.listing import Columns, Listed, ListQuery
from storage.management import flags as stored
from storage.management.flags import Flag
from storage.management.partners import named
from storage.rules.fraud.flag import FlagState
from storage.rules.periods.period import ALWAYS, Span
from storage.tables import customers, flags, partners


def read(
    connection: Connection,
    program_id: int,
    query: ListQuery,
    *,
    state: FlagState,
    partner_id: int | None = None,
    search: str | None = None,
    span: Span = ALWAYS,
) -> Listed[Flag]:
    """Return a page of a program's flags; `search` is in the partner's name or code, or it is the customer key.

    Raises ValidationError for an invalid cursor.
    """
    row = flags.c
    mine = (row.program_id == program_id, row.state == state, *pagination.within(row.id, row.created_at, span))
    matching = select(row.id).where(*mine)
    if partner_id is not None:
        matching = matching.where(row.partner_id == partner_id)
    if search is not None:
        buyer = (customers.c.program_id == program_id, customers.c.customer_key == search)
        theirs = row.customer_id.in_(select(customers.c.id).where(*buyer))
        matching = matching.where(or_(row.partner_id.in_(named(program_id, search)), theirs))
    rows = stored.select_rows().where(row.program_id == program_id)
    of_partner = (partners.c.program_id == row.program_id, partners.c.id == row.partner_id)
    partner = select(func.lower(partners.c.name)).where(*of_partner).correlate(flags).scalar_subquery()
    of_customer = (customers.c.program_id == row.program_id, customers.c.id == row.customer_id)
    customer = select(customers.c.customer_key).where(*of_customer).correlate(flags).scalar_subquery()
    sorts = {"kind": row.kind, "partner": partner, "customer": func.coalesce(customer, "")}
    return listing.read(connection, matching, rows, Columns(row.id, sorts), query, of_row=stored.of_row)
