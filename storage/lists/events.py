"""The event log: clicks, leads, sales, refunds and test events of a program as one list."""

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import ColumnElement, Connection, and_, or_, select, union_all

from storage.engine import cursors
from storage.lists import event_kinds
from storage.lists import find as engine
from storage.lists.declaration import MOST_ROWS, Filter, List, ListQuery, ListScope, Page
from storage.lists.event_kinds import SOURCES, Event, EventKind
from storage.lists.partners import ids_of_name
from storage.lists.related import contains, has_key
from storage.rules import keys
from storage.rules.periods.period import ALWAYS, Span
from storage.tables import clicks, customers, leads

MOST_SEARCHED = 100_000  # of a kind
NAMED = ("partner_id", "customer_id", "transaction_id", "caller")  # columns that some kinds have
Wanted = Mapping[str, Any]  # the value of each filter


def find_events(connection: Connection, scope: ListScope, query: ListQuery) -> Page[Event]:
    """Return a page of a program's events, filtered clicks too, with the sum of sales less refunds in each currency."""
    program_id = scope.program_id
    wanted = {name: each for name, each in query.filters.items() if each is not None}
    if query.search is not None:
        wanted |= _found(connection, program_id, query.search)
    kinds = [kind for kind in EventKind if _may_match(kind, wanted)]
    if not kinds:
        return Page([], order=query.order)
    each = (event_kinds.sort_keys(kind).where(*_conditions(kind, program_id, wanted, query.span)) for kind in kinds)
    event = union_all(*each).subquery("event").c
    sums = {engine.AMOUNT: event.amount_cents, engine.CURRENCY: event.currency}
    own = {"kind": event.key, engine.AMOUNT: event.program_cents}
    order = {name: own[name] if name in own else event[name] for name in EVENTS.sorts}
    some = engine.Candidates(select(event.key), event.key, sums, order, every=select(event.key))
    is_long = EventKind.CLICK in kinds and query.is_added_up and _has_many_clicks(connection, program_id, wanted, query)
    summed = Page[Event]([]) if is_long else engine.totals(connection, some, query)
    if summed.order.column is not None:
        page = engine.read_ids(connection, some, query, summed)
        return page._replace(data=_get_each(connection, program_id, page.data))
    edge = cursors.edge_of(query.cursor, int, str, str)
    is_ascending = summed.order.is_ascending != (edge is not None and edge.is_end)
    rows: list[Event] = []
    for kind in kinds:
        source = SOURCES[kind]
        mine = source.statement.where(*_conditions(kind, program_id, wanted, query.span))
        if edge is not None:
            mine = mine.where(event_kinds.beyond(kind, tuple(edge.values), is_after=is_ascending))
        ordered = mine.order_by(source.id.asc() if is_ascending else source.id.desc()).limit(query.limit + 1)
        rows += event_kinds.of_rows(kind, connection.execute(ordered))
    rows.sort(key=event_kinds.place, reverse=not is_ascending)
    return cursors.cut(rows, query.limit, edge, summed, key=event_kinds.place)


EVENTS = List(
    "events",
    Event,
    clicks,
    about="Clicks, leads, sales, refunds and test events",
    at=clicks.c.at,
    filters=(
        Filter("kind", EventKind, "click, lead, sale, refund or test.", label="Kind"),
        Filter("partner_id", int, "Only this partner's."),
        Filter("customer_id", int, "Only this customer's."),
        Filter("transaction_id", str, "Only the sale with this transaction_id, and its refunds."),
        Filter("text", str, "Only with this text in titles, URLs, campaigns, names or reasons; of the newest events."),
        Filter("caller", str, "Only sales and refunds by this caller."),
        Filter("test", bool, "Only test events (true), or none of them (false)."),
    ),
    finds="Partner, customer key or transaction id",
    reader=find_events,
    may_lag=True,
)


def list_events_of_customer(connection: Connection, program_id: int, customer_id: int) -> list[Event]:
    """Return a customer's click, leads (also of others, that theirs outranked), sales and refunds, oldest first."""
    merged = []
    for kind in (EventKind.CLICK, EventKind.LEAD, EventKind.REFUND, EventKind.SALE):
        mine = and_(*_conditions(kind, program_id, {"customer_id": customer_id}, ALWAYS))
        if kind == EventKind.LEAD:
            mine |= (leads.c.program_id == program_id) & (leads.c.outranked_by == customer_id)
        merged += event_kinds.of_rows(kind, connection.execute(SOURCES[kind].statement.where(mine)))
    return sorted(merged, key=event_kinds.place)


def _found(connection: Connection, program_id: int, search: str) -> Wanted:
    """Return the filters of a text: the code or name of a partner, a customer key, or else a transaction_id."""
    sent_by = ids_of_name(connection, program_id, search)
    if sent_by:
        return {"partner_id": sent_by[0]}
    key = select(customers.c.id).where(customers.c.program_id == program_id, has_key(search))
    customer_id = connection.execute(key).scalar()
    return {"transaction_id": search} if customer_id is None else {"customer_id": customer_id}


def _may_match(kind: EventKind, wanted: Wanted) -> bool:
    """Return whether events of a kind have the fields that the filters name."""
    lacking = {name for name in NAMED if name in wanted and name not in SOURCES[kind].statement.selected_columns}
    return (
        wanted.get("kind") in {None, kind}
        and wanted.get("test") in {None, kind == EventKind.TEST}
        and lacking <= ({"customer_id"} if kind == EventKind.CLICK else set())  # who has it as their own
    )


def _conditions(kind: EventKind, program_id: int, wanted: Wanted, span: Span) -> list[ColumnElement[bool]]:
    source = SOURCES[kind]
    narrow: list[ColumnElement[bool]] = [source.id.table.c.program_id == program_id]
    if kind != EventKind.CLICK:
        narrow += cursors.within(source.id, source.id.table.c.at, span)
    else:
        narrow += [source.id >= keys.first_click_id(span.since)] if span.since is not None else []
        narrow += [source.id < keys.first_click_id(span.until)] if span.until is not None else []
    columns = source.statement.selected_columns
    narrow += [columns[name] == wanted[name] for name in NAMED if name in wanted and name in columns]
    if kind == EventKind.CLICK and "customer_id" in wanted:
        mine = (customers.c.program_id == program_id, customers.c.id == wanted["customer_id"])
        narrow.append(clicks.c.click_id == select(customers.c.click_id).where(*mine).scalar_subquery())
    if "text" in wanted:
        newest = select(source.id).where(source.id.table.c.program_id == program_id).order_by(source.id.desc())
        oldest = newest.offset(MOST_SEARCHED).limit(1).scalar_subquery()
        narrow += [
            or_(oldest.is_(None), source.id > oldest),
            or_(*(contains(each, wanted["text"]) for each in source.texts)),
        ]
    return narrow


def _has_many_clicks(connection: Connection, program_id: int, wanted: Wanted, query: ListQuery) -> bool:
    """Return whether the clicks alone are too many to add up: mostly they are, and to count them joins nothing."""
    mine = _conditions(EventKind.CLICK, program_id, wanted, query.span)
    further = select(clicks.c.click_id).where(*mine).offset(MOST_ROWS).limit(1)
    return connection.execute(further).first() is not None


def _get_each(connection: Connection, program_id: int, keys: Sequence[str]) -> list[Event]:
    found: dict[str, Event] = {}
    for kind in {EventKind(key.partition(":")[0]) for key in keys}:
        source = SOURCES[kind]
        ids = [source.id.type.python_type(key.partition(":")[2]) for key in keys if key.startswith(f"{kind}:")]
        mine = source.statement.where(source.id.table.c.program_id == program_id, source.id.in_(ids))
        found |= {f"{kind}:{event.id}": event for event in event_kinds.of_rows(kind, connection.execute(mine))}
    return [found[key] for key in keys if key in found]
