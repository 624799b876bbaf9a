"""list_programs and get_program: the programs, and the settings of one."""

from datetime import datetime
from typing import Any

from mcp_server.arguments import Cursor, Limit
from mcp_server.results import Result, RowPage, page
from mcp_server.sanitize import Untrusted
from mcp_server.tools.tool import ToolRequest, tool
from presentation.settings_models import with_settings
from storage.engine.pagination import Paging
from storage.management import program_settings
from storage.rules import rotation, settings
from storage.rules.scope import Scope
from storage.rules.setting_kinds import Kind, Setting


class ProgramRow(Result):
    """A program in a list."""

    id: int
    name: Untrusted
    domain: Untrusted
    status: str
    currency: str
    sandbox_of: int | None = None
    created_at: datetime


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


class ProgramResult(Result):
    """One program."""

    program: ProgramDetails


@tool("List programs", Scope.PROGRAMS_READ)
def list_programs(request: ToolRequest, *, limit: Limit = 25, cursor: Cursor | None = None) -> RowPage[ProgramRow]:
    """Affiliate programs that this key can read, newest first. Call it first: other tools need their ids.
    Those with sandbox_of hold trial events only: leave them out of answers about the live program of that id.
    """
    programs = program_settings.list_programs(
        request.connection,
        workspace_ids=[request.key.workspace_id],
        program_ids=request.key.program_ids,
        paging=Paging(limit, cursor),
    )
    return page(programs, lambda program: ProgramRow(**_flat(program)))


@tool("Get a program's settings", Scope.PROGRAMS_READ)
def get_program(request: ToolRequest, *, program_id: int) -> ProgramResult:
    """Commission terms, attribution rules and windows of a program, and whether its key must be replaced
    (program_key_state active, flagged, expired). commission_rate is percent, or cents if commission_type is
    flat. Without recurring_months, sales earn for life.
    """
    program = program_settings.get_program(request.connection, program_id)
    details = ProgramDetails(
        **_flat(program),
        program_key_state=rotation.state(program.rotate_by, request.at),
        program_key_rotate_by=program.rotate_by,
    )
    return ProgramResult(program=details)


def _flat(program: program_settings.Program) -> dict[str, Any]:
    return {
        **settings.published(program.settings),
        "id": program.id,
        "sandbox_of": program.sandbox_of,
        "created_at": program.created_at,
    }
