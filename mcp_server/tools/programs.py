"""list_programs and get_program: the programs, and the settings of one."""

from typing import Annotated, NamedTuple

from pydantic import Field

from mcp_server.results import JsonRow
from mcp_server.sanitize import json_of, row_of
from mcp_server.tools.lists import Asked, list_tool
from mcp_server.tools.performance import ReportPeriod, report_range
from mcp_server.tools.tool import ToolRequest, tool
from storage.lists.programs import PROGRAMS, ListedProgram, read_program
from storage.reports import comparison, performance
from storage.rules import settings
from storage.rules.errors import InsufficientScope
from storage.rules.keys import rotation_state
from storage.rules.scope import Scope
from storage.rules.untrusted import UntrustedValues
from storage.tracking import key_callers

SHOWN_CALLERS = 20
CHOSEN_PERIOD = Annotated[ReportPeriod, Field(strict=False)]


class ProgramResult(NamedTuple):
    """One program, and who calls with its key or one that was replaced; `calls` counts each kind of call."""

    program: UntrustedValues
    key_callers: list[UntrustedValues]


@list_tool(
    "Programs",
    Scope.PROGRAMS_READ,
    PROGRAMS,
    beside={"sandboxes": list[UntrustedValues] | None},
    period=(CHOSEN_PERIOD | None, None),
)
def list_programs(asked: Asked) -> JsonRow:
    """Programs that this key can read. Call it first: other tools need their ids. With a period or dates
    (performance:read) it compares them, also with the period before. `sandboxes` are trials: leave them out of
    answers about live programs.
    """
    request, programs = asked.request, asked.stored.data
    period, date_from, date_to = (asked.arguments[name] for name in ("period", "date_from", "date_to"))
    if (period is None and date_from is None and date_to is None) or not programs:
        return _apart(asked.page(row=_listed))
    if Scope.PERFORMANCE_READ not in request.key.scopes:
        raise InsufficientScope(hint="Leave period and dates out.", required_scope=Scope.PERFORMANCE_READ)
    query = report_range(request, period or ReportPeriod.SEVEN_DAYS, date_from, date_to)
    report = performance.read_performance(request.connection, programs[0].id, query, at=request.at)

    def row(program: ListedProgram) -> JsonRow:
        shown = _listed(program)
        if program.sandbox_of is None:
            for name, window in (("totals", report.window), ("previous_totals", report.previous_window)):
                shown[name] = json_of(comparison.read_figures(request.connection, program.id, window))
        return shown

    return _apart(asked.page(row=row, window=report.window, previous_window=report.previous_window))


@tool("Program settings", Scope.PROGRAMS_READ)
def get_program(request: ToolRequest, *, program_id: int) -> ProgramResult:
    """Terms, windows, program_key_state (active, flagged, expired), key_callers (who uses the key, or still a replaced
    one). commission_rate is percent, or cents if commission_type is flat. No recurring_months: sales earn for life.
    """
    program = read_program(request.connection, program_id)
    callers = key_callers.list_callers(request.connection, program_id, limit=SHOWN_CALLERS)
    return ProgramResult(
        {
            "id": program.id,
            "created_at": program.created_at,
            "sandbox_of": program.sandbox_of,
            **settings.published(program.settings),
            "program_key_state": rotation_state(program.rotate_by, request.at),
            "program_key_rotate_by": program.rotate_by,
        },
        [
            {"key": "current" if caller.is_current else "replaced", **row_of(caller, leave_out={"is_current"})}
            for caller in callers
        ],
    )


def _listed(program: ListedProgram) -> JsonRow:
    return row_of(program, leave_out={"workspace", "workspace_id", "program"})


def _apart(page: JsonRow) -> JsonRow:
    """Return a page with the sandboxes in a list of their own."""
    live = [each for each in page["data"] if "sandbox_of" not in each]
    sandboxes = [each for each in page["data"] if "sandbox_of" in each]
    return page | {"data": live} | ({"sandboxes": sandboxes} if sandboxes else {})
