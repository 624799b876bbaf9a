"""list_programs and get_program: the programs, and the settings of one."""

from datetime import date, datetime
from typing import Annotated, Any

from pydantic import Field

from mcp_server.results import Result, RowPage, fields_of
from mcp_server.sanitize import Untrusted
from mcp_server.tools.lists import Asked, list_tool
from mcp_server.tools.performance import ReportPeriod, report_range
from mcp_server.tools.tool import ToolRequest, tool
from presentation.settings_models import with_settings
from storage.lists import key_callers
from storage.lists.key_callers import KeyCaller
from storage.lists.programs import PROGRAMS, ListedProgram, Program, read_program
from storage.reports import performance, refunds
from storage.rules import settings
from storage.rules.errors import InsufficientScope
from storage.rules.keys import rotation_state
from storage.rules.reports import metrics
from storage.rules.reports.metrics import Figures
from storage.rules.scope import Scope
from storage.rules.setting_kinds import Kind, Setting

SHOWN_CALLERS = 20
CHOSEN_PERIOD = Annotated[ReportPeriod, Field(strict=False)]


@fields_of(ListedProgram, leave_out={"workspace", "workspace_id", "program"})
class ProgramRow(Result):
    """A program in a list."""

    sandbox_of: int | None = None


def _field(setting: Setting) -> Any:
    """Return a setting as a field without a description: clients read every schema in every conversation."""
    if setting.kind in {Kind.PERCENT, Kind.COMMISSION_RATE}:
        shown: Any = float
    elif setting.kind in {Kind.TEXT, Kind.HOST}:
        shown = Untrusted
    elif setting.kind == Kind.HOSTS:
        shown = Untrusted | None
    else:
        shown = str if setting.kind == Kind.CHOICE else setting.value_type
    return shown, None if setting.is_nullable else ...


@with_settings(_field)
class _ProgramSettingsRow(ProgramRow):
    pass


class ProgramDetails(_ProgramSettingsRow):
    """A program's settings; `commission_rate` is percent, or cents when `commission_type` is flat."""

    program_key_state: str
    program_key_rotate_by: datetime | None = None


class KeyCallerRow(Result):
    """Who calls with the program's key, or with one that was replaced; `calls` counts each kind."""

    key: str
    user_agent: Untrusted | None = None
    network_hash: str | None = None
    calls: dict[str, int]
    first_at: datetime
    last_at: datetime


class ProgramResult(Result):
    """One program."""

    program: ProgramDetails
    key_callers: list[KeyCallerRow]


class ProgramWithTotalsRow(ProgramRow):
    """A program, with its totals where a period was requested."""

    totals: Figures | None = None
    previous_totals: Figures | None = None


class ProgramPage(RowPage[ProgramWithTotalsRow]):
    """Live programs, newest first, and the windows of their totals; `sandboxes` are trials of theirs."""

    sandboxes: list[ProgramRow] | None = None
    window: dict[str, date] | None = None
    previous_window: dict[str, date] | None = None


@list_tool("Programs", Scope.PROGRAMS_READ, PROGRAMS, period=(CHOSEN_PERIOD | None, None))
def list_programs(asked: Asked) -> ProgramPage:
    """Programs that this key can read. Call it first: other tools need their ids. With a period or dates
    (performance:read) it compares them, also with the period before. `sandboxes` are trials: leave them out of
    answers about live programs.
    """
    request, programs = asked.request, asked.read()
    period, date_from, date_to = (asked.arguments[name] for name in ("period", "date_from", "date_to"))
    if (period is None and date_from is None and date_to is None) or not programs.data:
        return ProgramPage(**_apart(asked.page(ProgramWithTotalsRow, found=programs)))
    if Scope.PERFORMANCE_READ not in request.key.scopes:
        raise InsufficientScope(hint="Leave period and dates out.", required_scope=Scope.PERFORMANCE_READ)
    query, before = report_range(request, period or ReportPeriod.SEVEN_DAYS, date_from, date_to)
    report = performance.read_performance(request.connection, programs.data[0].id, query, at=request.at, before=before)
    windows = (report.window, report.previous_window)

    def values(program: ListedProgram) -> dict[str, Any]:
        days = [performance.read_days(request.connection, program.id, each) for each in windows]
        back = [refunds.read_refunds_by_month(request.connection, program.id, each.span) for each in windows]
        sums = [metrics.add_totals(each.values()) for each in days]
        figures = [metrics.figures(*each) for each in zip(sums, map(metrics.add_refunds, back), strict=True)]
        return program._asdict() | {"totals": figures[0], "previous_totals": figures[1]}

    window, previous = (each._asdict() for each in windows)
    page = asked.page(ProgramWithTotalsRow, found=programs, values=values)
    return ProgramPage(**_apart(page), window=window, previous_window=previous)


@tool("Program settings", Scope.PROGRAMS_READ)
def get_program(request: ToolRequest, *, program_id: int) -> ProgramResult:
    """Terms, windows, program_key_state (active, flagged, expired), key_callers (who uses the key, or still a replaced
    one). commission_rate is percent, or cents if commission_type is flat. No recurring_months: sales earn for life.
    """
    program = read_program(request.connection, program_id)
    details = ProgramDetails(
        **_flat(program),
        program_key_state=rotation_state(program.rotate_by, request.at),
        program_key_rotate_by=program.rotate_by,
    )
    callers = key_callers.list_callers(request.connection, program_id, limit=SHOWN_CALLERS)
    return ProgramResult(program=details, key_callers=[_caller_row(caller) for caller in callers])


def _caller_row(caller: KeyCaller) -> KeyCallerRow:
    return KeyCallerRow(**caller._asdict(), key="current" if caller.is_current else "replaced")


def _apart(found: RowPage[ProgramWithTotalsRow]) -> dict[str, Any]:
    """Return a page with the sandboxes in a list of their own."""
    live = [each for each in found.data if each.sandbox_of is None]
    sandboxes = [ProgramRow.model_validate(each) for each in found.data if each.sandbox_of is not None]
    return dict(found) | {"data": live, "sandboxes": sandboxes or None}


def _flat(program: Program) -> dict[str, Any]:
    return {
        **settings.published(program.settings),
        "id": program.id,
        "sandbox_of": program.sandbox_of,
        "created_at": program.created_at,
    }
