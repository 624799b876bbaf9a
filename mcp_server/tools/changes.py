"""list_changes: who changed what, since when each rate holds, and when the program key was replaced."""

from typing import Annotated, Any

from pydantic import BeforeValidator, Field, JsonValue

from mcp_server.results import BUDGET, Result, RowPage, fields_of, json_of_row, weight
from mcp_server.sanitize import Untrusted, clean
from mcp_server.tools.lists import Asked, list_tool
from storage.lists.audit_log import AUDIT_LOG, Entry
from storage.reports import terms_history
from storage.rules.scope import Scope


def _cleaned(value: Any) -> Any:
    """Return a logged value with its texts inert; outsiders wrote some of them, such as names."""
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, dict):
        return {name: _cleaned(each) for name, each in value.items() if name != "email"}
    return [_cleaned(each) for each in value] if isinstance(value, list) else value


Logged = Annotated[JsonValue, BeforeValidator(_cleaned)]


@fields_of(Entry, leave_out={"actor_name", "actor_id", "subject"})
class ChangeRow(Result):
    """A change: `field` of `subject_id` from `before` to `after`; `action` is what was done to what."""

    actor: Untrusted = Field(validation_alias="actor_name")
    before: Logged = None
    after: Logged = None


class ChangePage(RowPage[ChangeRow]):
    """Changes, newest first; the first page also has the terms, newest first, and the key."""

    terms: list[dict[str, JsonValue]] | None = None
    program_key: dict[str, JsonValue] | None = None


@list_tool("Changes", Scope.PROGRAMS_READ, AUDIT_LOG)
def list_changes(asked: Asked) -> ChangePage:
    """Who changed what, when, from what to what; since when each rate holds (terms); when the program key was replaced.
    action: program, program_key, partner, commission, member, or such as program.change. field: such as hold_days.
    """
    if asked.query.cursor is not None:
        return ChangePage(**dict(asked.page(ChangeRow)))
    connection, program_id = asked.request.connection, asked.scope.program_id
    terms = [json_of_row(each) for each in terms_history.list_terms(connection, program_id)]
    key = json_of_row(terms_history.get_key(connection, program_id, at=asked.request.at))
    room = BUDGET - sum(map(weight, (*terms, key)))
    return ChangePage(**dict(asked.page(ChangeRow, budget=room)), terms=terms, program_key=key)
