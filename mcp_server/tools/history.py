"""What happened in a program, and to whom: events, payment events, customers, one customer, and the feed of changes."""

import tomllib
from collections.abc import Sequence
from operator import itemgetter
from pathlib import Path
from typing import Annotated

from pydantic import Field

from mcp_server.results import BUDGET, JsonRow, fitting, json_of, row_of, weight
from mcp_server.tools.diagnosis import call_row
from mcp_server.tools.lists import Asked, list_tool, shortened
from mcp_server.tools.tool import Cursor, Identifier, RowId, ToolRequest, tool
from storage.diagnosis import explanation
from storage.diagnosis.facts import Subject
from storage.lists import customers, event_kinds
from storage.lists.commissions import Commission
from storage.lists.declaration import ListQuery, ListScope
from storage.lists.event_kinds import Event, EventKind
from storage.lists.events import EVENTS
from storage.lists.find import find
from storage.lists.payment_events import PAYMENT_EVENTS, PaymentEvent
from storage.lists.programs import read_program
from storage.lists.rejected_calls import WITH_ORGANIC
from storage.payments import event_log
from storage.reports import changes
from storage.rules import errors
from storage.rules.commission import CommissionStatus
from storage.rules.periods.period import Span
from storage.rules.scope import Scope
from storage.rules.settlement import Settlement

BY_BROWSERS = ("landing_url", "page_url", "page_title", "referrer_url", "event_name", "reason")
NOT_OF_EVENTS = {"outranked_by", "outranked_at", "email_masked"}


@list_tool("Events", Scope.EVENTS_READ, EVENTS)
def list_events(asked: Asked) -> JsonRow:
    """Return clicks, leads, sales, refunds and test events."""
    if asked.stored.order.column is None:
        return asked.page(row=event_row, key=lambda event: list(event_kinds.place(event)))
    return asked.page(row=event_row, key=lambda event: [f"{event.kind}:{event.id}"])


def event_row(event: Event) -> JsonRow:
    """Return an event with the fields of its kind (a click's id is its click_id), and the texts of browsers apart."""
    own = {"click_id"} if event.id == event.click_id else set()
    converted = {"program_cents"} if event.program_cents == event.amount_cents else set()
    shown = row_of(event, leave_out=NOT_OF_EVENTS | own | converted)
    sent = {name: shown.pop(name) for name in BY_BROWSERS if name in shown}
    return {**shown, "untrusted": sent} if sent else shown


MEANINGS = tomllib.loads(Path(__file__).with_name("payment_outcomes.toml").read_text(encoding="utf-8"))


@list_tool("Payment events", Scope.EVENTS_READ, PAYMENT_EVENTS, "disputes")
def list_payment_events(asked: Asked) -> JsonRow:
    """Return what the payment processor sent and what became of it."""
    connection, program_id = asked.request.connection, asked.scope.program_id
    sold = {event.transaction_id for event in asked.stored.data if event.transaction_id}
    buyers = event_log.buyers(connection, program_id, sold)

    def row(event: PaymentEvent) -> JsonRow:
        """Return an event and its buyer; `is_renewal`: not the customer's first purchase."""
        buyer = buyers.get(event.transaction_id or "")
        return row_of(event, leave_out={"event_id"}) | (row_of(buyer) if buyer else {})

    if asked.query.cursor is not None:
        return asked.page(row=row)
    counts = event_log.count_outcomes(connection, program_id, span=asked.query.span)
    outcomes = [
        row_of(each)
        | {"meaning": MEANINGS.get(each.outcome) or f"Rejected. {errors.hint_of(each.outcome) or ''}".strip()}
        for each in counts
    ]
    disputes = event_log.list_disputes(connection, program_id)
    states = [each.state for each in disputes]
    shown = fitting(json_of(disputes), BUDGET // 3)
    return asked.page(
        row=row,
        budget=BUDGET - sum(map(weight, (*outcomes, *shown))),
        outcomes=outcomes,
        disputes=shown,
        disputes_by_state={state: states.count(state) for state in event_log.DisputeState},
    )


NOT_OF_CUSTOMERS = {
    *("created_at", "email_masked", "partner_code", "program_id"),
    *("signup_at", "first_purchase_at"),  # their days are shown
}
CAUSES = {EventKind.SALE: "sale_id", EventKind.LEAD: "lead_id"}
NOT_EARNED = {*Commission._fields} - {"id", "amount_cents", "net_cents", "status", "hold_until", "paid_at"}


@list_tool("Customers", Scope.CUSTOMERS_READ, customers.CUSTOMERS, "by_partner", "rejected_sales")
def list_customers(asked: Asked) -> JsonRow:
    """Return customers; of a status or settlement, also how many each partner has."""
    connection, filters = asked.request.connection, asked.query.filters
    if not (filters["status"] or filters["settlement"]) or asked.query.cursor is not None:
        return asked.page(leave_out=NOT_OF_CUSTOMERS)
    counts = customers.count_by_partner(connection, asked.scope, asked.query)
    by_partner, others = shortened(counts, BUDGET // 4)
    rejected = None  # the newest sales of unknown customers since the oldest unsettled lead: they may be its
    waiting = [each for each in asked.stored.data if each.settlement in {Settlement.NONE, Settlement.PROVISIONAL}]
    if waiting and Scope.EVENTS_READ in asked.request.key.scopes:
        since = Span(min(each.lead_at or each.created_at for each in waiting), None)
        query = ListQuery(filters={"code": errors.CustomerNotFound.code}, span=since)
        calls = find(connection, WITH_ORGANIC, asked.scope, query).data
        rejected = fitting([call_row(call) for call in calls if call.call == "sale"], BUDGET // 4)
    return asked.page(
        leave_out=NOT_OF_CUSTOMERS,
        budget=BUDGET // 2,
        rejected_sales=rejected,
        customers=sum(each.customers for each in counts),
        by_partner=by_partner,
        other_partners=others,
        lead_commission_cents=read_program(connection, asked.scope.program_id).settings.lead_commission_cents,
    )


@tool("Customer", Scope.CUSTOMERS_READ, "customer", "why", "timeline")
def get_customer(
    request: ToolRequest,
    *,
    program_id: int,
    customer_id: RowId | None = None,
    customer_key: Identifier | None = None,
    click_id: Identifier | None = None,
    transaction_id: Identifier | None = None,
) -> JsonRow:
    """Return one customer's story."""
    found = customers.find_customer(
        request.connection,
        program_id,
        customer_id=customer_id,
        customer_key=customer_key,
        click_id=click_id,
        transaction_id=transaction_id,
    )
    customer, steps = customers.get_timeline(request.connection, ListScope(program_id, request.at), found)
    happened = [step for step in steps if isinstance(step, Event)]
    earned = [step for step in steps if isinstance(step, Commission)]
    explained = explanation.explain(request.connection, program_id, Subject(click_id=customer.click_id), at=request.at)
    timeline = [(customers.occurred_at(event), _step(event, earned)) for event in happened]
    timeline += [(call.at, {"kind": "rejected", **call_row(call)}) for call in explained.rejected_calls]
    rows = [row for _, row in sorted(timeline, key=itemgetter(0))[::-1]]
    shown = fitting(rows)
    change = "Send likely_customer_key." if explained.likely_customer_key else explained.smallest_change
    why = {"verdict": explained.outcome, "message": explained.text, "smallest_change": change}
    return {
        "customer": row_of(customer, leave_out=NOT_OF_CUSTOMERS),
        "currency": read_program(request.connection, program_id).settings.currency,
        "totals": _totals(happened, earned),
        "why": why | {"transaction_id": explained.transaction_id, "refused_calls": len(explained.rejected_calls)},
        "timeline": shown,
        "truncated": len(shown) < len(rows),
    }


def _step(event: Event, earned: Sequence[Commission]) -> JsonRow:
    shown, cause = event_row(event), CAUSES.get(event.kind)
    for commission in earned:
        if cause is not None and getattr(commission, cause) == event.id:
            shown["commission"] = row_of(commission, leave_out=NOT_EARNED)
    return shown


def _totals(happened: Sequence[Event], earned: Sequence[Commission]) -> dict[str, int]:
    """Return what a customer bought and earned their partner, in cents of the program's currency."""
    sold, back = (
        [event.program_cents or 0 for event in happened if event.kind == kind]
        for kind in (EventKind.SALE, EventKind.REFUND)
    )
    waiting = (CommissionStatus.PENDING, CommissionStatus.APPROVED)
    return {
        "sales": len(sold),
        "sales_cents": sum(sold),
        "refunds": len(back),
        "refunded_cents": sum(back),
        "commission_cents": sum(each.amount_cents for each in earned),
        "commission_net_cents": sum(each.net_cents for each in earned),
        "owed_cents": sum(each.net_cents for each in earned if each.status in waiting),
        "paid_out_cents": sum(each.paid_out_cents for each in earned if each.status == CommissionStatus.PAID),
    }


MOST_CHANGES = 40  # which fit a result with their summary


@tool("What changed", Scope.PROGRAMS_READ)
def changes_since(
    request: ToolRequest,
    *,
    program_id: int,
    cursor: Cursor | None = None,
    limit: Annotated[int, Field(ge=1, le=MOST_CHANGES)] = MOST_CHANGES,
) -> JsonRow:
    """Return the next entries of the feed of changes, with their summary."""
    read = changes.read_changes(request.connection, program_id, cursor=cursor, limit=limit, at=request.at)
    return read._asdict()
