"""Why sales are not credited: readiness, customer keys, the explanation of one sale, and the rejected calls."""

from collections.abc import Sequence
from typing import Annotated, Literal

from pydantic import Field

from mcp_server.results import BUDGET, JsonRow, clean, fitting, row_of, weight
from mcp_server.tools.lists import Asked, list_tool
from mcp_server.tools.tool import Identifier, ToolRequest, tool
from storage.diagnosis import explanation, identifier_health, lost_sales, readiness, search
from storage.diagnosis.facts import Subject
from storage.lists.declaration import ListQuery, ListScope
from storage.lists.find import find
from storage.lists.programs import PROGRAMS
from storage.lists.rejected_calls import REJECTED_CALLS, RejectedCall, by_cause
from storage.rules import errors
from storage.rules.outcome import SaleOutcome
from storage.rules.scope import Scope
from web.errors import STATUS

NOT_FOUND = {"program_id", "outcome", "text", "subject", "steps", "rejected_calls", "partner_name"}


@tool("Readiness", Scope.PROGRAMS_READ, "key_rotation")
def get_readiness(request: ToolRequest, *, program_id: int) -> JsonRow:
    """Return what is missing before a program's first credited sale."""
    report = readiness.check_readiness(request.connection, program_id, at=request.at, base_url=request.base_url)
    return report._asdict() | {"identifier_health": None, "identifier_state": report.identifier_health.state}


@tool("Customer keys", Scope.PROGRAMS_READ, "groups")
def check_identifier_health(request: ToolRequest, *, program_id: int) -> JsonRow:
    """Return whether sales have the customer_key of the leads."""
    return identifier_health.check_keys(request.connection, program_id)._asdict()


@tool("Attribution", Scope.EVENTS_READ, "trace", "refused_calls", "found")
def explain_attribution(
    request: ToolRequest,
    *,
    program_id: int | None = None,
    transaction_id: Identifier | None = None,
    customer_key: Identifier | None = None,
    click_id: Identifier | None = None,
    ids: Annotated[list[Identifier], Field(min_length=1, max_length=10)] | None = None,
) -> JsonRow:
    """Return why a sale was credited or not, or the verdicts of several identifiers."""
    subject = Subject(transaction_id, customer_key, click_id)
    named = [value for value in subject if value is not None]
    if program_id is None or ids:
        if len(named) != (0 if ids else 1):
            raise errors.ValidationError.of("ids", "Send exactly one of transaction_id, customer_key, click_id and ids")
        rows = _verdicts(request, program_id, ids or named)
        shown = fitting(rows)
        return {"untrusted": ["found"], "truncated": len(shown) < len(rows), "found": shown}
    explained = explanation.explain(request.connection, program_id, subject, at=request.at)
    calls = list(map(call_row, explained.rejected_calls))
    shown = fitting(calls, budget=12_000)
    found = row_of(explained, leave_out=NOT_FOUND)
    if explained.likely_customer_key:
        found["smallest_change"] = "Send likely_customer_key, the customer_key of the lead, with the sale."
    about = {"untrusted": ["trace.facts", "refused_calls"], "truncated": len(shown) < len(calls)}
    about |= {"verdict": explained.outcome, "message": explained.text, "trace": explained.steps}
    return about | found | {"refused_calls": shown}


def _verdicts(request: ToolRequest, program_id: int | None, ids: Sequence[str]) -> list[JsonRow]:
    """Return what became of each identifier, in each program of the key that knows it."""
    reached = ListScope(0, request.at, None, [request.key.workspace_id], request.key.program_ids)
    programs = [] if program_id else find(request.connection, PROGRAMS, reached, ListQuery(limit=100)).data
    program_ids = [program_id] if program_id else [each.id for each in programs]
    rows: list[JsonRow] = []
    for typed in ids:
        stories = search.search(request.connection, program_ids, typed, at=request.at, explains_silence=False).stories
        rows += [
            {"id": clean(typed), "verdict": each.outcome, "message": each.text}
            | row_of(each, leave_out=NOT_FOUND - {"program_id", "partner_name"})
            for each in stories
        ] or [{"id": clean(typed), "verdict": SaleOutcome.NOT_RECORDED.value}]
    return rows


@list_tool("Rejected calls", Scope.EVENTS_READ, REJECTED_CALLS, "lost", view=(Literal["causes", "calls"], "causes"))
def list_refused_calls(asked: Asked) -> JsonRow:
    """Return the rejected calls by cause, or one by one."""
    if asked.arguments["view"] == "calls":
        return asked.page(row=call_row, causes=[])
    rows = by_cause(asked.request.connection, asked.scope.program_id, asked.query.span)
    ongoing_since = asked.request.at - readiness.ONGOING
    causes = [
        row_of(each) | {"still_happening": each.last_at >= ongoing_since, "hint": errors.hint_of(each.code)}
        for each in rows
        if asked.query.filters["code"] in {None, each.code}
    ]
    split = lost_sales.split(asked.request.connection, asked.scope.program_id, asked.query.span)
    lost = [row_of(each) for each in split if asked.query.filters["code"] in {None, *each.codes}]
    shown = fitting(lost, BUDGET - weight(causes))
    return {"truncated": len(shown) < len(lost), "next_cursor": None, "data": [], "causes": causes, "lost": shown}


def call_row(call: RejectedCall) -> JsonRow:
    """Return a rejected call; `fields` names the wrong ones."""
    fields = list(map(clean, call.fields))
    return row_of(call, leave_out={"message"}) | {"status": int(STATUS[call.code]), "fields": fields}
