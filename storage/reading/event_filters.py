"""Filters of the event log: by time, partner, customer, transaction, and whether an event is a test."""

from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Table, select

from storage.engine import pagination
from storage.reading.event_kinds import EventKind
from storage.rules import keys
from storage.rules.periods.period import ALWAYS, Span
from storage.tables import clicks, customers, leads, refunds, sales, test_events

TABLES = {
    EventKind.LEAD: leads,
    EventKind.REFUND: refunds,
    EventKind.SALE: sales,
    EventKind.TEST: test_events,
}
OF_PARTNERS = {EventKind.CLICK: clicks, EventKind.LEAD: leads, EventKind.REFUND: sales, EventKind.SALE: sales}
OF_TRANSACTIONS = {EventKind.REFUND: sales, EventKind.SALE: sales, EventKind.TEST: test_events}


class EventFilter(NamedTuple):
    """What an event has to match; a kind without such a field matches nothing. None matches everything."""

    span: Span = ALWAYS
    partner_id: int | None = None
    customer_id: int | None = None
    transaction_id: str | None = None
    is_test: bool | None = None


EVERY_EVENT = EventFilter()


def may_match(kind: EventKind, match: EventFilter) -> bool:
    """Return whether events of a kind have the fields that the filter names."""
    is_person = match.partner_id is not None or match.customer_id is not None
    return (
        (kind in OF_PARTNERS or not is_person)
        and (kind in OF_TRANSACTIONS or match.transaction_id is None)
        and match.is_test in {None, kind == EventKind.TEST}
    )


def conditions(kind: EventKind, program_id: int, match: EventFilter) -> list[ColumnElement[bool]]:
    """Return the conditions of the filter on a kind's statement."""
    wanted = _within(kind, match.span)
    if match.partner_id is not None:
        wanted.append(OF_PARTNERS[kind].c.partner_id == match.partner_id)
    if match.customer_id is not None:
        wanted.append(_of_customer(OF_PARTNERS[kind], program_id, match.customer_id))
    if match.transaction_id is not None:
        wanted.append(OF_TRANSACTIONS[kind].c.transaction_id == match.transaction_id)
    return wanted


def _within(kind: EventKind, span: Span) -> list[ColumnElement[bool]]:
    if kind != EventKind.CLICK:
        return pagination.within(TABLES[kind].c.id, TABLES[kind].c.at, span)
    click_id: Any = clicks.c.click_id
    bounds = [click_id >= keys.first_click_id(span.since)] if span.since is not None else []
    return bounds if span.until is None else [*bounds, click_id < keys.first_click_id(span.until)]


def _of_customer(table: Table, program_id: int, customer_id: int) -> ColumnElement[bool]:
    if table is not clicks:
        return table.c.customer_id == customer_id
    mine = (customers.c.program_id == program_id, customers.c.id == customer_id)
    return clicks.c.click_id == select(customers.c.click_id).where(*mine).scalar_subquery()
