"""The event log: clicks, leads, sales, refunds and test events of a program as one list, newest first."""

from sqlalchemy import Connection

from storage.engine import pagination
from storage.engine.pagination import FIRST_PAGE, Page, Paging
from storage.reading import event_filters, event_kinds
from storage.reading.event_filters import EVERY_EVENT, EventFilter
from storage.reading.event_kinds import Event, EventKind, Place
from storage.tables import clicks, customers, leads, sales


def list_events(
    connection: Connection,
    program_id: int,
    paging: Paging = FIRST_PAGE,
    *,
    kind: EventKind | None = None,
    match: EventFilter = EVERY_EVENT,
) -> Page[Event]:
    """Return a page of a program's events, newest first; only of `kind` if it is given, and only those that match.

    Filtered clicks (bots, prefetches) are included and marked; test events are a separate kind.
    Raises ValidationError for an invalid cursor.
    """
    after = None if paging.cursor is None else Place(*pagination.decode(paging.cursor, int, str, str))
    merged = [
        event
        for each in ([kind] if kind else EventKind)
        if event_filters.may_match(each, match)
        for event in _of_kind(connection, program_id, each, after, match, limit=paging.limit + 1)
    ]
    newest = sorted(merged, key=event_kinds.place, reverse=True)
    return pagination.cut(
        newest, paging.limit, key=lambda event: list(event_kinds.place(event)), of_row=lambda event: event
    )


def of_customer(connection: Connection, program_id: int, customer_id: int) -> list[Event]:
    """Return what a customer did, oldest first: the click that made them, leads, sales and refunds.

    Leads of other customers that theirs outranked are among them.
    """
    mine = customers.c.program_id == program_id
    conditions = {
        EventKind.CLICK: (customers.c.id == customer_id) & (clicks.c.click_id == customers.c.click_id),
        EventKind.LEAD: (leads.c.customer_id == customer_id) | (leads.c.outranked_by == customer_id),
        EventKind.SALE: sales.c.customer_id == customer_id,
        EventKind.REFUND: sales.c.customer_id == customer_id,
    }
    merged = []
    for kind, condition in conditions.items():
        statement = event_kinds.source(kind).statement.where(condition, mine)
        if kind == EventKind.CLICK:
            statement = statement.join(customers, clicks.c.program_id == customers.c.program_id)
        merged += [event_kinds.of_row(kind, row) for row in connection.execute(statement)]
    return sorted(merged, key=event_kinds.place)


def _of_kind(
    connection: Connection, program_id: int, kind: EventKind, after: Place | None, match: EventFilter, *, limit: int
) -> list[Event]:
    source = event_kinds.source(kind)
    mine = source.statement.where(source.order.table.c.program_id == program_id)
    mine = mine.where(*event_filters.conditions(kind, program_id, match))
    older = mine if after is None else mine.where(source.before(after))
    rows = connection.execute(older.order_by(source.order.desc()).limit(limit))
    return [event_kinds.of_row(kind, row) for row in rows]
