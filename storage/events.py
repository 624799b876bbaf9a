"""The event log: clicks, leads, sales, refunds and test events of a program as one list, newest first."""

from sqlalchemy import Connection

from storage import event_log, pages
from storage.event_log import Event, EventKind, Place
from storage.pages import FIRST_PAGE, Page, Paging
from storage.tables import clicks, customers, leads, sales


def listed(
    connection: Connection, program_id: int, paging: Paging = FIRST_PAGE, *, kind: EventKind | None = None
) -> Page[Event]:
    """Return a page of a program's events, newest first; of one kind if it is named.

    Clicks that were filtered (bots, prefetches) are in it, and say so; test events are a kind of their own.
    Raises ValidationError for a cursor that we did not give.
    """
    after = None if paging.cursor is None else Place(*pages.decode(paging.cursor, int, str, str))
    found = [
        event
        for each in ([kind] if kind else EventKind)
        for event in _of_kind(connection, program_id, each, after, limit=paging.limit + 1)
    ]
    newest = sorted(found, key=event_log.place, reverse=True)
    return pages.cut(newest, paging.limit, key=lambda event: list(event_log.place(event)), of_row=lambda event: event)


def of_customer(connection: Connection, program_id: int, customer_id: int) -> list[Event]:
    """Return what a customer did, oldest first: the click that made them, leads, sales and refunds."""
    mine = (customers.c.program_id == program_id, customers.c.id == customer_id)
    conditions = {
        EventKind.CLICK: clicks.c.click_id == customers.c.click_id,
        EventKind.LEAD: leads.c.customer_id == customer_id,
        EventKind.SALE: sales.c.customer_id == customer_id,
        EventKind.REFUND: sales.c.customer_id == customer_id,
    }
    found = []
    for kind, condition in conditions.items():
        statement = event_log.source(kind).statement.where(condition, *mine)
        if kind == EventKind.CLICK:
            statement = statement.join(customers, clicks.c.program_id == customers.c.program_id)
        found += [event_log.of_row(kind, row) for row in connection.execute(statement)]
    return sorted(found, key=event_log.place)


def _of_kind(
    connection: Connection, program_id: int, kind: EventKind, after: Place | None, *, limit: int
) -> list[Event]:
    source = event_log.source(kind)
    mine = source.statement.where(source.order.table.c.program_id == program_id)
    older = mine if after is None else mine.where(source.before(after))
    rows = connection.execute(older.order_by(source.order.desc()).limit(limit))
    return [event_log.of_row(kind, row) for row in rows]
