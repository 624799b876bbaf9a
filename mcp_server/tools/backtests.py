"""backtest_terms: what the last days would have cost under other terms."""

import json
from collections.abc import Mapping, Sequence
from typing import Annotated, Any
from urllib.parse import parse_qsl, urlencode

from pydantic import Field

from mcp_server.results import JsonRow, json_of, row_of
from mcp_server.tools.tool import Identifier, RowId, ToolRequest, tool
from presentation.backtests import DraftSettings, draft_of
from presentation.changes import TermsChange
from presentation.plans import PREPARED
from storage.management.plans import LASTS
from storage.reports import backtest
from storage.rules.errors import FieldError, ValidationError
from storage.rules.scope import Scope
from web import body

MOST_SHOWN = 10
MOST_STEPS = 30  # 150,000 sales or leads in one read
_LISTS = ("partners", "lost", "gained")


@tool("Backtest terms", Scope.PROGRAMS_READ, *_LISTS)
def backtest_terms(
    request: ToolRequest,
    *,
    program_id: int,
    changes: Annotated[Identifier, Field(description="commission_rate=25&hold_days=30, of get_program")],
    days: Annotated[int, Field(ge=1, le=366)] = 30,
    partner_id: RowId | None = None,
    group: Identifier | None = None,
) -> JsonRow:
    """Return what the last days cost, and would have cost under other settings."""
    sent = _changes(changes)
    change = draft_of(sent, partner_id, group)
    with backtest.alone(program_id):
        running = backtest.Backtest(request.connection, program_id, [change], days=days, at=request.at)
        for _ in range(MOST_STEPS):
            if running.is_done:
                break
            running.step(request.connection, program_id)
        else:
            raise ValidationError(fields=[FieldError("days", "Too many sales: send fewer days")])
        found = running.result(request.connection, program_id)
    shown = {name: [row_of(each) for each in getattr(found, name)[:MOST_SHOWN]] for name in _LISTS}
    whose = f"/partners/{partner_id}" if partner_id else f"/partner-groups/{group}" if group else ""
    step = ["PUT", f"{whose}/terms", change.settings] if whose else ["PATCH", "", sent]
    is_action = not whose or sent.keys() <= TermsChange.model_fields.keys()
    link = {"plan_url": _link(request, program_id, step)} if sent and is_action else {}
    return row_of(found, leave_out=set(_LISTS)) | shown | {"applied_changes": json_of(sent)} | link


def _link(request: ToolRequest, program_id: int, step: Sequence[Any]) -> str:
    """Return the link to a page where the member who connected the assistant can send this step as a plan."""
    member = getattr(request.key, "email", "")
    prepared = (PREPARED, program_id, member, [step], f"Proposed by {request.key.name}")
    sealed = request.sealer.seal_until(request.at + LASTS, *prepared)
    return f"{request.base_url}/programs/{program_id}/plans?{urlencode({'draft': sealed})}"


def _changes(text: str) -> Mapping[str, Any]:
    """Return settings as the API names them. Raises ValidationError."""
    pairs = dict(parse_qsl(text, keep_blank_values=True, max_num_fields=50))
    values = {name: None if value == "null" else value for name, value in pairs.items()}
    if unknown := sorted(values.keys() - DraftSettings.model_fields.keys()):
        message = f"No setting {', '.join(unknown)}: there are {', '.join(DraftSettings.model_fields)}"
        raise ValidationError(fields=[FieldError("changes", message[:500])])
    return body.parse(DraftSettings, json.dumps(values).encode(), strict=False).sent()
