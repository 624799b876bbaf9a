"""list_events: the events of a program."""

from typing import Any

from mcp_server.results import JsonRow
from mcp_server.sanitize import row_of
from mcp_server.tools.lists import Asked, list_tool
from storage.lists import event_kinds
from storage.lists.event_kinds import Event
from storage.lists.events import EVENTS
from storage.rules.scope import Scope

BY_BROWSERS = ("landing_url", "page_url", "page_title", "referrer_url", "event_name", "reason")
NOT_SHOWN = {"outranked_by", "outranked_at", "email_masked"}


@list_tool("Events", Scope.EVENTS_READ, EVENTS)
def list_events(asked: Asked) -> JsonRow:
    """Clicks, leads, sales, refunds, test events (sums: get_performance). A refund has sale_cents, reversed_cents
    (commission taken back), disputed. caller: who called with the key. text: in titles, URLs, campaigns, reasons.
    filtered: a bot or prefetch, not counted.
    """
    return asked.page(row=event_row, key=_place if asked.stored.order.column is None else _key)


def event_row(event: Event) -> JsonRow:
    """Return an event with the fields that its kind has, and the texts that visitors' browsers sent apart.

    A click's id is its click_id.
    """
    own = {"click_id"} if event.id == event.click_id else set()
    converted = {"program_cents"} if event.program_cents == event.amount_cents else set()
    shown = row_of(event, leave_out=NOT_SHOWN | own | converted)
    sent = {name: shown.pop(name) for name in BY_BROWSERS if name in shown}
    return {**shown, "untrusted": sent} if sent else shown


def _place(event: Event) -> list[Any]:
    """Return the cursor values of an event in the order of time."""
    return list(event_kinds.place(event))


def _key(event: Event) -> list[Any]:
    """Return the cursor values of an event in any other order."""
    return [f"{event.kind}:{event.id}"]
