"""changes_since: what changed in a program, in the order of the commits."""

from typing import Annotated

from pydantic import Field

from mcp_server.results import JsonRow
from mcp_server.tools.tool import Cursor, ToolRequest, tool
from storage.reports import changes
from storage.rules.scope import Scope

MOST = 40  # entries, which fit a result with their summary


@tool("What changed", Scope.PROGRAMS_READ)
def changes_since(
    request: ToolRequest,
    *,
    program_id: int,
    cursor: Cursor | None = None,
    limit: Annotated[int, Field(ge=1, le=MOST)] = MOST,
) -> JsonRow:
    """Return the next entries of the feed of changes, with their summary."""
    read = changes.read_changes(request.connection, program_id, cursor=cursor, limit=limit, at=request.at)
    return read._asdict()
