"""The tools about programs: their list, the settings of one, who changed what, and how to connect a shop."""

import re
from dataclasses import replace
from datetime import timedelta
from typing import Annotated, Any

from pydantic import Field

from mcp_server.results import BUDGET, JsonRow, json_of, row_of, weight
from mcp_server.tools.lists import Asked, list_tool
from mcp_server.tools.reports import ReportPeriod, report_range
from mcp_server.tools.tool import ToolRequest, tool
from presentation import guides
from storage.access import agent_keys
from storage.lists.audit_log import AUDIT_LOG, Entry
from storage.lists.partners import newest_code
from storage.lists.programs import PROGRAMS, Program, read_program
from storage.management import agent_caps
from storage.reports import comparison, performance
from storage.reports import program as program_reports
from storage.rules import settings
from storage.rules.agent_caps import CAPS
from storage.rules.errors import InsufficientScope
from storage.rules.keys import rotation_state
from storage.rules.scope import Scope
from storage.tracking import key_callers

NOT_LISTED = {*Program._fields} - {"id", "created_at", "name", "domain", "status", "currency", "sandbox_of"}
STOPPED = timedelta(days=7)
UNUSUAL = {
    "figures": (Scope.PERFORMANCE_READ, program_reports.list_unusual_figures),
    "refunds_larger_than_the_sale": (Scope.EVENTS_READ, program_reports.list_large_refunds),
}


@list_tool("Programs", Scope.PROGRAMS_READ, PROGRAMS, "sandboxes", period=(ReportPeriod | None, None))
def list_programs(asked: Asked) -> JsonRow:
    """Return the programs of the key, with a period also what each did in it."""
    request, programs = asked.request, asked.stored.data
    period, *dates = (asked.arguments[name] for name in ("period", "date_from", "date_to"))
    scopes = dict[str, performance.ReportScope]()
    if programs and any((period, *dates)):
        if Scope.PERFORMANCE_READ not in request.key.scopes:
            raise InsufficientScope(hint="Leave period and dates out.", required_scope=Scope.PERFORMANCE_READ)
        query = report_range(request, period or "7d", *dates)
        report = performance.read_performance(request.connection, programs[0].id, query, at=request.at)
        scopes = {"window": report.scope, "previous_window": report.before}

    def row(program: Program) -> JsonRow:
        shown = row_of(program, leave_out=NOT_LISTED)
        if program.sandbox_of is None:
            for name, scope in scopes.items():
                figures, _ = comparison.read_figures(request.connection, scope._replace(program_id=program.id))
                shown[name.replace("window", "totals")] = json_of(figures)
        return shown

    windows: Any = {name: scope.window for name, scope in scopes.items()}
    page = asked.page(row=row, **windows)
    sandboxes = [each for each in page["data"] if "sandbox_of" in each]
    live = [each for each in page["data"] if "sandbox_of" not in each]
    return page | {"data": live} | ({"sandboxes": sandboxes} if sandboxes else {})


@tool("Program", Scope.PROGRAMS_READ, "program", "key_callers")
def get_program(request: ToolRequest, *, program_id: int, usage: bool = False) -> JsonRow:
    """Return a program's settings and who uses its key."""
    program = read_program(request.connection, program_id)
    callers = key_callers.list_callers(request.connection, program_id, limit=20, by_week=usage)
    shown = {
        "id": program.id,
        "created_at": program.created_at,
        "sandbox_of": program.sandbox_of,
        **settings.published(program.settings),
        "program_key_state": rotation_state(program.rotate_by, request.at),
        "program_key_rotate_by": program.rotate_by,
    }
    rows = [
        {
            "key": "current" if each.is_current else "replaced",
            **row_of(each, leave_out={"is_current"}),
            "stopped": each.last_at <= request.at - STOPPED,
        }
        for each in callers
    ]
    about: JsonRow = {"program": shown, "key_callers": rows}
    if usage:
        about["agents"] = _agents(request, program_id)
        about["unusual"] = {
            name: read(request.connection, program_id, at=request.at)
            for name, (scope, read) in UNUSUAL.items()
            if scope in request.key.scopes
        }
        about["exchange_rates"] = program_reports.list_rates(request.connection, program_id)
    return about


def _agents(request: ToolRequest, program_id: int) -> JsonRow:
    """Return the caps, what agent keys approved and paid today, and each key with what the agent API rejected of it."""
    connection, at = request.connection, request.at
    rejected = agent_keys.list_rejections(connection, program_id)
    keys = [
        row_of(key, leave_out={"workspace_id", "masked", "program_ids"})
        | {
            "rejected": [
                row_of(each, leave_out={"program_id", "agent_key_id"})
                for each in rejected
                if each.agent_key_id == key.id
            ]
        }
        for key in agent_keys.list_all(connection, workspace_id=request.key.workspace_id)
        if key.program_ids is None or program_id in key.program_ids
    ]
    return {
        "caps": settings.published(agent_caps.get_caps(connection, program_id), CAPS),
        "used_today": list(map(row_of, agent_caps.list_used(connection, program_id, at))),
        "keys": keys,
    }


NOT_SHOWN = {"actor_id", "subject"}


@list_tool("Changes", Scope.PROGRAMS_READ, AUDIT_LOG)
def list_changes(asked: Asked) -> JsonRow:
    """Return who changed what; on the first page, also the terms and the program key."""
    if asked.arguments["action"] is None and asked.arguments["decisions"] is None:
        asked.request.applied_query["decisions"] = False
        asked = replace(asked, query=asked.query._replace(filters={**asked.query.filters, "decisions": False}))
    if asked.query.cursor is not None:
        return asked.page(row=_change_row)
    connection, program_id = asked.request.connection, asked.scope.program_id
    terms = json_of(program_reports.list_terms(connection, program_id))
    key = json_of(program_reports.get_key(connection, program_id, at=asked.request.at))
    room = BUDGET - sum(map(weight, (*terms, key)))
    return asked.page(row=_change_row, budget=room, terms=terms, program_key=key)


def _change_row(entry: Entry) -> JsonRow:
    """Return a change: `field` of `subject_id` from `before` to `after`; `action` is what was done to what."""
    shown = _without_email(row_of(entry, leave_out=NOT_SHOWN))
    return {"actor": shown.pop("actor_name"), **shown}


def _without_email(value: Any) -> Any:
    """Return a logged value without e-mail addresses of people, however deep they are in it."""
    if isinstance(value, dict):
        return {name: _without_email(each) for name, each in value.items() if name != "email"}
    return list(map(_without_email, value)) if isinstance(value, list) else value


GuideTopic = Annotated[str, Field(pattern=f"^({'|'.join(guides.NAMES)})$", json_schema_extra={"enum": [*guides.NAMES]})]
SETTINGS = ("currency", "lead_auth_policy", "cookie_window_days", "attribution_window_days")


@tool("Guide", Scope.PROGRAMS_READ)
def get_integration_guide(
    request: ToolRequest,
    *,
    program_id: int,
    topic: GuideTopic = "integration",
    part: Annotated[int, Field(ge=1, le=20)] = 1,
) -> JsonRow:
    """Return a guide, or a part of it that fits a result."""
    program = read_program(request.connection, program_id)
    code = newest_code(request.connection, program.id)
    filling = guides.filling(program, base_url=request.base_url, code=code)
    text = re.sub(r"(POST|GET) (?=/api/)", rf"\1 {request.base_url}", guides.filled(topic, filling))
    parts = [""]  # as few as fit a result each
    for section in re.split(r"(?m)^(?=## )", text):
        if parts[-1] and weight(parts[-1] + section) > BUDGET:
            parts.append("")
        parts[-1] += section
    number = min(part, len(parts))
    shown = {name: getattr(program.settings, name) for name in SETTINGS}
    about = {"part": number, "parts": len(parts), "base_url": request.base_url, "settings": shown}
    return {"text": parts[number - 1], **about}
