"""list_changes: who changed what, since when each rate holds, and when the program key was replaced."""

from datetime import datetime
from typing import Any

from pydantic import JsonValue

from mcp_server.arguments import Cursor, Identifier, Limit, Timestamp, span_of
from mcp_server.results import BUDGET, Result, RowPage, json_of_row, page, weight
from mcp_server.sanitize import Untrusted, clean
from mcp_server.tools.tool import ToolRequest, tool
from storage.engine import audit
from storage.engine.audit import Entry
from storage.engine.pagination import Paging
from storage.reports import terms_history
from storage.rules.scope import Scope


class ChangeRow(Result):
    """A change: `field` of `subject_id` from `before` to `after`; `action` is what was done to what."""

    id: int
    at: datetime
    actor_type: str
    actor: Untrusted
    action: str
    subject_id: str | None = None
    field: str | None = None
    before: JsonValue = None
    after: JsonValue = None


class ChangePage(RowPage[ChangeRow]):
    """Changes, newest first; the first page also has the terms, newest first, and the key."""

    terms: list[dict[str, JsonValue]] | None = None
    program_key: dict[str, JsonValue] | None = None


@tool("Changes", Scope.PROGRAMS_READ)
def list_changes(
    request: ToolRequest,
    *,
    program_id: int,
    limit: Limit = 25,
    cursor: Cursor | None = None,
    action: Identifier | None = None,
    field: Identifier | None = None,
    date_from: Timestamp | None = None,
    date_to: Timestamp | None = None,
) -> ChangePage:
    """Who changed what, when, from what to what; since when each rate holds (terms); when the program key was replaced.
    action: program, program_key, partner, commission, member, or such as program.change. field: such as hold_days.
    """
    span = span_of(date_from, date_to)
    paging = Paging(limit, cursor)
    stored = audit.list_entries(request.connection, program_id, paging, action=action, field=field, span=span)
    if cursor is not None:
        return ChangePage(**dict(page(stored, _row)))
    terms = [json_of_row(each) for each in terms_history.list_terms(request.connection, program_id)]
    key = json_of_row(terms_history.get_key(request.connection, program_id, at=request.at))
    room = BUDGET - sum(map(weight, (*terms, key)))
    return ChangePage(**dict(page(stored, _row, budget=room)), terms=terms, program_key=key)


def _row(entry: Entry) -> ChangeRow:
    values = entry._asdict() | {"before": _cleaned(entry.before), "after": _cleaned(entry.after)}
    return ChangeRow(**values | {"actor": entry.actor.name, "actor_type": entry.actor.type})


def _cleaned(value: Any) -> Any:
    """Return a logged value with its texts inert; outsiders wrote some of them, such as names."""
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, dict):
        return {name: _cleaned(each) for name, each in value.items() if name != "email"}
    return [_cleaned(each) for each in value] if isinstance(value, list) else value
