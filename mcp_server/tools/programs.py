"""list_programs and get_program: which programs there are, and the settings of one."""

from datetime import datetime
from typing import Any

from mcp_server.arguments import OfProgram, Paged
from mcp_server.results import Listed, Model, Result, page
from mcp_server.sanitize import Untrusted
from mcp_server.tools.tool import Tool, ToolRequest
from storage.management import program_settings
from storage.rules import commission_rate, rotation
from storage.rules.scope import Scope


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


class Settings(ProgramRow):
    """A program's settings; `commission_rate` is percent, or cents when `commission_type` is flat."""

    commission_type: str
    commission_rate: float
    lead_commission_cents: int
    recurring_months: int | None = None
    platform_fee_rate: float
    attribution_model: str
    cookie_window_days: int
    attribution_window_days: int
    hold_days: int
    lead_auth_policy: str
    program_key_state: str
    program_key_rotate_by: datetime | None = None


class Program(Result):
    """One program."""

    program: Settings


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
    settings = program.settings
    shown = Settings(
        **_flat(program),
        commission_rate=commission_rate.shown(settings.commission_type, settings.rate),
        platform_fee_rate=commission_rate.percent(settings.platform_fee_bps),
        program_key_state=rotation.state(program.rotate_by, call.at),
        program_key_rotate_by=program.rotate_by,
    )
    return Program(**call.says(arguments), program=shown)


def _flat(program: program_settings.Program) -> dict[str, Any]:
    return {**program.settings._asdict(), "id": program.id, "created_at": program.created_at}


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
