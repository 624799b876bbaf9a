"""list_programs and get_program: which programs there are, and the settings of one."""

from datetime import datetime
from typing import Any

from mcp_server.arguments import OfProgram, Paged
from mcp_server.results import Listed, Model, Result, page
from mcp_server.sanitize import Untrusted
from mcp_server.tools.tool import Tool, ToolRequest
from presentation.settings_models import with_settings
from storage.management import program_settings
from storage.rules import rotation, settings
from storage.rules.scope import Scope
from storage.rules.setting_kinds import Kind, Setting


class ProgramRow(Model):
    """A program in a list."""

    id: int
    name: Untrusted
    domain: Untrusted
    status: str
    currency: str
    created_at: datetime


class Programs(Listed):
    """A page of programs."""

    data: list[ProgramRow]


def _field(setting: Setting) -> Any:
    """Return a setting as a field without a description: clients read every schema in every conversation."""
    if setting.kind in {Kind.PERCENT, Kind.COMMISSION_RATE}:
        shown: Any = float
    elif setting.kind in {Kind.TEXT, Kind.HOST}:
        shown = Untrusted
    else:
        shown = str if setting.kind == Kind.CHOICE else setting.value_type
    return shown, None if setting.is_nullable else ...


@with_settings(_field)
class _ProgramSettings(ProgramRow):
    pass


class ProgramDetails(_ProgramSettings):
    """A program's settings; `commission_rate` is percent, or cents when `commission_type` is flat."""

    program_key_state: str
    program_key_rotate_by: datetime | None = None


class Program(Result):
    """One program."""

    program: ProgramDetails


def _list(call: ToolRequest, arguments: Paged) -> Programs:
    found = program_settings.list_programs(
        call.connection,
        workspace_ids=[call.key.workspace_id],
        program_ids=call.key.program_ids,
        paging=arguments.paging,
    )
    return Programs(**call.says(arguments), **page(found, lambda program: ProgramRow(**_flat(program))))


def _get(call: ToolRequest, arguments: OfProgram) -> Program:
    program = program_settings.get_program(call.connection, arguments.program_id)
    shown = ProgramDetails(
        **_flat(program),
        program_key_state=rotation.state(program.rotate_by, call.at),
        program_key_rotate_by=program.rotate_by,
    )
    return Program(**call.says(arguments), program=shown)


def _flat(program: program_settings.Program) -> dict[str, Any]:
    return {**settings.published(program.settings), "id": program.id, "created_at": program.created_at}


LIST_PROGRAMS = Tool(
    name="list_programs",
    title="List programs",
    scope=Scope.PROGRAMS_READ,
    description="Affiliate programs this key reaches, newest first. Call it first: other tools need an id from here.",
    arguments=Paged,
    result=Programs,
    answer=_list,
)
GET_PROGRAM = Tool(
    name="get_program",
    title="Get a program's settings",
    scope=Scope.PROGRAMS_READ,
    description=(
        "Commission terms, attribution rules and windows of a program, and whether its key must be replaced "
        "(program_key_state active, flagged, expired). commission_rate is percent, or cents if commission_type is "
        "flat; no recurring_months: for life."
    ),
    arguments=OfProgram,
    result=Program,
    answer=_get,
)
