"""list_changes: who changed what, since when each rate holds, and when the program key was replaced."""

from dataclasses import replace
from typing import Any

from mcp_server.results import BUDGET, JsonRow, weight
from mcp_server.sanitize import clean, json_of, row_of
from mcp_server.tools.lists import Asked, list_tool
from storage.lists.audit_log import AUDIT_LOG, Entry
from storage.reports import terms_history
from storage.rules.scope import Scope

NOT_SHOWN = {"actor_name", "actor_id", "subject", "before", "after"}


@list_tool("Changes", Scope.PROGRAMS_READ, AUDIT_LOG)
def list_changes(asked: Asked) -> JsonRow:
    """Who changed what, when, from what to what; terms: since when each rate holds, and the sales and commission_cents
    by it; when the program key was replaced. action: program, program_key, partner, commission, member, or such as
    program.change. field: such as hold_days. Decisions on single commissions only with decisions or action.
    """
    if asked.arguments["action"] is None and asked.arguments["decisions"] is None:
        asked.request.applied_query["decisions"] = False
        asked = replace(asked, query=asked.query._replace(filters={**asked.query.filters, "decisions": False}))
    if asked.query.cursor is not None:
        return asked.page(row=_change_row)
    connection, program_id = asked.request.connection, asked.scope.program_id
    terms = json_of(terms_history.list_terms(connection, program_id))
    key = json_of(terms_history.get_key(connection, program_id, at=asked.request.at))
    room = BUDGET - sum(map(weight, (*terms, key)))
    return asked.page(row=_change_row, budget=room, terms=terms, program_key=key)


def _change_row(entry: Entry) -> JsonRow:
    """Return a change: `field` of `subject_id` from `before` to `after`; `action` is what was done to what."""
    values = {"before": _cleaned(entry.before), "after": _cleaned(entry.after)}
    shown = row_of(entry, leave_out=NOT_SHOWN) | {"actor": clean(entry.actor_name)}
    return shown | {name: each for name, each in values.items() if each is not None}


def _cleaned(value: Any) -> Any:
    """Return a logged value with its texts inert; outsiders wrote some of them, such as names."""
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, dict):
        return {name: _cleaned(each) for name, each in value.items() if name != "email"}
    return [_cleaned(each) for each in value] if isinstance(value, list) else value
