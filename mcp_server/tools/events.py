"""list_events: the events of a program."""

from typing import Any

from mcp_server.results import Result, RowPage, fields_of
from mcp_server.sanitize import Untrusted
from mcp_server.tools.lists import Asked, list_tool
from storage.lists import event_kinds
from storage.lists.event_kinds import Event
from storage.lists.events import EVENTS
from storage.rules.scope import Scope


class UntrustedTexts(Result):
    """Texts that visitors' browsers sent with an event."""

    landing_url: Untrusted | None = None
    page_url: Untrusted | None = None
    page_title: Untrusted | None = None
    referrer_url: Untrusted | None = None
    event_name: Untrusted | None = None
    reason: Untrusted | None = None


NOT_SHOWN = {"outranked_by", "outranked_at", "email_masked", "program_cents", *UntrustedTexts.model_fields}


@fields_of(Event, leave_out=NOT_SHOWN)
class EventRow(Result):
    """An event, with the fields that its kind has; a refund took back `reversed_cents` of commission."""

    untrusted: UntrustedTexts | None = None


@list_tool("Events", Scope.EVENTS_READ, EVENTS)
def list_events(asked: Asked) -> RowPage[EventRow]:
    """Clicks, leads, sales, refunds, test events (sums: get_performance). A refund has its sale, reversed_cents
    (commission taken back), disputed. filtered: a bot or prefetch, not counted.
    """
    found = asked.read()
    key = _place if found.order.column is None else _key
    return asked.page(EventRow, found=found, values=event_row, key=key)


def event_row(event: Event) -> EventRow:
    """Return an event with what outsiders wrote apart."""
    values = event._asdict()
    sent = {name: values[name] for name in UntrustedTexts.model_fields if values[name] is not None}
    return EventRow(**values, untrusted=UntrustedTexts(**sent) if sent else None)


def _place(event: Event) -> list[Any]:
    """Return the cursor values of an event in the order of time."""
    return list(event_kinds.place(event))


def _key(event: Event) -> list[Any]:
    """Return the cursor values of an event in any other order."""
    return [f"{event.kind}:{event.id}"]
