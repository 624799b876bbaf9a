"""The event log: clicks, leads, sales, refunds and test events of a program as one list."""

from sqlalchemy import Connection, select

from storage.engine import listing, pagination
from storage.engine.listing import Listed, ListQuery
from storage.engine.pagination import FIRST_PAGE, Page, Paging
from storage.management import partners as enrolled
from storage.reading import event_filters, event_kinds, sorted_events
from storage.reading.event_filters import EVERY_EVENT, EventFilter
from storage.reading.event_kinds import Event, EventKind, Place
from storage.rules.periods.period import ALWAYS, Span
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
    place = None if paging.cursor is None else Place(*pagination.decode(paging.cursor, int, str, str))
    newest = _merged(connection, program_id, kind, match, place, limit=paging.limit + 1)
    return pagination.cut(
        newest, paging.limit, key=lambda event: list(event_kinds.place(event)), of_row=lambda event: event
    )


def read(
    connection: Connection,
    program_id: int,
    query: ListQuery,
    *,
    kind: EventKind | None = None,
    search: str | None = None,
    span: Span = ALWAYS,
) -> Listed[Event]:
    """Return a page of a program's events for people, with the sum of sales less refunds in each currency.

    `search` is a partner's code or name, a customer key, or a transaction_id. Raises ValidationError for an invalid
    cursor.
    """
    match = EventFilter(span) if search is None else _found(connection, program_id, search, span)
    kinds = [each for each in ([kind] if kind else EventKind) if event_filters.may_match(each, match)]
    if not kinds:
        return Listed([], order=query.order)
    matching, columns = sorted_events.every(program_id, kinds, match)
    if EventKind.CLICK in kinds and _has_many_clicks(connection, program_id, match):
        query = query._replace(has_totals=False)
    added = listing.added_up(connection, matching, columns, query)
    if added.order.column is not None:
        page = listing.read_ids(connection, matching, columns, query, added)
        return page._replace(data=sorted_events.get_each(connection, program_id, page.data))
    edge = listing.place_of(query.cursor, int, str, str)
    place = Place(*edge.values) if edge else None
    is_ascending = added.order.is_ascending != (edge is not None and edge.is_end)
    rows = _merged(connection, program_id, kind, match, place, limit=query.limit + 1, is_ascending=is_ascending)
    page = listing.cut(rows, query.limit, edge, lambda event: list(event_kinds.place(event)))
    return page._replace(order=added.order, totals=added.totals, amounts=added.amounts)


def _has_many_clicks(connection: Connection, program_id: int, match: EventFilter) -> bool:
    """Return whether the clicks alone are too many to add up: mostly they are, and to count them joins nothing."""
    mine = (clicks.c.program_id == program_id, *event_filters.conditions(EventKind.CLICK, program_id, match))
    further = select(clicks.c.click_id).where(*mine).offset(listing.MOST_ROWS).limit(1)
    return connection.execute(further).first() is not None


def _found(connection: Connection, program_id: int, search: str, span: Span) -> EventFilter:
    sent_by = enrolled.find(connection, program_id, search)
    row = customers.c
    key = select(row.id).where(row.program_id == program_id, row.customer_key == search)
    customer_id = None if sent_by else connection.execute(key).scalar()
    if sent_by:
        match = EventFilter(span, partner_id=sent_by[0].id)
    elif customer_id is not None:
        match = EventFilter(span, customer_id=customer_id)
    else:
        match = EventFilter(span, transaction_id=search)
    return match


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


def _merged(
    connection: Connection,
    program_id: int,
    kind: EventKind | None,
    match: EventFilter,
    place: Place | None,
    *,
    limit: int,
    is_ascending: bool = False,
) -> list[Event]:
    """Return at least the first `limit` events of all kinds beyond a place, in order."""
    merged: list[Event] = []
    for each in [kind] if kind else EventKind:
        if event_filters.may_match(each, match):
            source = event_kinds.source(each)
            mine = source.statement.where(source.order.table.c.program_id == program_id)
            mine = mine.where(*event_filters.conditions(each, program_id, match))
            if place is not None:
                mine = mine.where(source.after(place) if is_ascending else source.before(place))
            rows = mine.order_by(source.order.asc() if is_ascending else source.order.desc()).limit(limit)
            merged += [event_kinds.of_row(each, row) for row in connection.execute(rows)]
    return sorted(merged, key=event_kinds.place, reverse=not is_ascending)
