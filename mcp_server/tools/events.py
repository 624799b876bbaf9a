"""list_events: the events of a program."""

from datetime import datetime

from mcp_server.arguments import Cursor, Identifier, Limit, RowId, Timestamp, span_of
from mcp_server.results import Result, RowPage, page
from mcp_server.sanitize import Untrusted
from mcp_server.tools.tool import ToolRequest, tool
from storage.engine.pagination import Paging
from storage.reading import event_kinds, events
from storage.reading.event_filters import EventFilter
from storage.reading.event_kinds import Event, EventKind
from storage.rules.scope import Scope


class UntrustedTexts(Result):
    """Texts that visitors' browsers sent with an event."""

    landing_url: Untrusted | None = None
    page_url: Untrusted | None = None
    page_title: Untrusted | None = None
    referrer_url: Untrusted | None = None
    event_name: Untrusted | None = None
    reason: Untrusted | None = None


class EventRow(Result):
    """An event, with the fields that its kind has; a refund took back `reversed_cents` of commission."""

    kind: str
    id: int | str
    at: datetime
    is_test: bool
    partner_id: int | None = None
    partner_code: Untrusted | None = None
    customer_id: int | None = None
    customer_key: Untrusted | None = None
    click_id: str | None = None
    filtered: str | None = None
    settlement: str | None = None
    with_key: bool | None = None
    transaction_id: Untrusted | None = None
    refund_id: Untrusted | None = None
    amount_cents: int | None = None
    currency: str | None = None
    refunded_cents: int | None = None
    sale_id: int | None = None
    reversed_cents: int | None = None
    disputed: bool | None = None
    occurred_at: datetime | None = None
    test_of: str | None = None
    untrusted: UntrustedTexts | None = None


@tool("Events", Scope.EVENTS_READ)
def list_events(
    request: ToolRequest,
    *,
    program_id: int,
    limit: Limit = 25,
    cursor: Cursor | None = None,
    kind: EventKind | None = None,
    partner_id: RowId | None = None,
    customer_id: RowId | None = None,
    transaction_id: Identifier | None = None,
    test: bool | None = None,
    date_from: Timestamp | None = None,
    date_to: Timestamp | None = None,
) -> RowPage[EventRow]:
    """Clicks, leads, sales, refunds, test events (sums: get_performance). A refund has its sale, reversed_cents
    (commission taken back), disputed. filtered: a bot or prefetch, not counted.
    """
    match = EventFilter(span_of(date_from, date_to), partner_id, customer_id, transaction_id, test)
    stored = events.list_events(request.connection, program_id, Paging(limit, cursor), kind=kind, match=match)
    return page(stored, event_row, key=lambda event: list(event_kinds.place(event)))


def event_row(event: Event) -> EventRow:
    """Return an event with what outsiders wrote apart."""
    values = event._asdict()
    sent = {name: values[name] for name in UntrustedTexts.model_fields if values[name] is not None}
    return EventRow(**values, untrusted=UntrustedTexts(**sent) if sent else None)
