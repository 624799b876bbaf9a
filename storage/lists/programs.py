"""The list of programs that a caller may read; a program with its settings and the state of its key."""

from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any, NamedTuple

from sqlalchemy import ColumnElement, Connection, bindparam, case, or_, select

from storage.lists.declaration import Column, Filter, List, ListScope
from storage.lists.related import contains
from storage.rules import keys
from storage.rules.attribution import ProgramStatus
from storage.rules.errors import NotFound, required
from storage.rules.setting_kinds import Kind
from storage.rules.settings import SETTINGS, ProgramSettings
from storage.rules.untrusted import Untrusted
from storage.tables import commission_terms, programs, workspaces
from storage.tables import program_keys as held

TERMS = tuple(setting.name for setting in SETTINGS if setting.is_term)
_kind = case((programs.c.sandbox_of.is_(None), "live"), else_="sandbox")
_workspace = select(workspaces.c.name).where(workspaces.c.id == programs.c.workspace_id).scalar_subquery()


class ProgramKind(StrEnum):
    """A live program, or the sandbox of one."""

    LIVE = "live"
    SANDBOX = "sandbox"


class Program(NamedTuple):
    """A program as a read may show it, with a masked key; `revision` (the ETag) grows with every change.

    `sandbox_of` is the live program that a sandbox belongs to, None for a live program.
    """

    id: int
    created_at: datetime
    name: Annotated[Untrusted, Column("Name", sorts=True)]
    domain: Annotated[Untrusted, Column("Domain", sorts=True)]
    workspace: Annotated[str, Column(sql=_workspace)]
    status: ProgramStatus
    currency: str
    sandbox_of: int | None
    workspace_id: int
    revision: int
    settings: ProgramSettings = ProgramSettings("", "")
    api_token_masked: str = ""
    flagged_at: datetime | None = None
    rotate_by: datetime | None = None


def _mine(scope: ListScope) -> ColumnElement[bool]:
    mine = programs.c.workspace_id.in_(scope.workspace_ids)
    return mine if scope.program_ids is None else mine & programs.c.id.in_(scope.program_ids)


def _search(_: ListScope, text: str) -> ColumnElement[bool]:
    of_workspace = programs.c.workspace_id.in_(select(workspaces.c.id).where(contains(workspaces.c.name, text)))
    return or_(contains(programs.c.name, text), contains(programs.c.domain, text), of_workspace)


def _with_settings(connection: Connection, _: ListScope, rows: list[Program]) -> list[Program]:
    read = connection.execute(_PROGRAMS.where(programs.c.id.in_([row.id for row in rows])))
    each = {row.id: _program(row) for row in read}
    return [each[row.id] for row in rows]


PROGRAMS = List(
    "programs",
    Program,
    programs,
    about="The programs that you may read",
    filters=(
        Filter("kind", ProgramKind, "live or sandbox; both by default.", lambda kind: _kind == kind),
        Filter("status", ProgramStatus, "active or paused.", programs.c.status.__eq__, "Status"),
    ),
    finds="Name, domain or workspace",
    search=_search,
    mine=_mine,
    finish=_with_settings,
    has_window=True,
)


def read_program(connection: Connection, program_id: int) -> Program:
    """Return a program. Raises NotFound when there is none with this id."""
    row = connection.execute(_ONE, {"id": program_id}).one_or_none()
    return _program(required(row, NotFound("There is no such program.")))


def lock_program(connection: Connection, program_id: int) -> Program:
    """Lock a program's row until the transaction ends, and return the program. Raises NotFound."""
    connection.execute(select(programs.c.id).where(programs.c.id == program_id).with_for_update())
    return read_program(connection, program_id)


_current = (commission_terms.c.program_id == programs.c.id) & (commission_terms.c.version == programs.c.terms_version)
_joined = programs.join(commission_terms, _current).join(held, held.c.program_id == programs.c.id)
_key = (held.c.prefix, held.c.last4, held.c.flagged_at, held.c.rotate_by)
_terms = [commission_terms.c[name] for name in TERMS]
_PROGRAMS = select(*programs.c, *_terms, *_key, _workspace.label("workspace")).select_from(_joined)
_ONE = _PROGRAMS.where(programs.c.id == bindparam("id"))


def _program(row: Any) -> Program:
    stored = {setting.name: getattr(row, setting.name) for setting in SETTINGS}
    chosen = {each.name: each.value_type(stored[each.name]) for each in SETTINGS if each.kind == Kind.CHOICE}
    read = {name: getattr(row, name) for name in Program._fields if name not in {"settings", "api_token_masked"}}
    masked = keys.mask(row.prefix, row.last4)
    return Program(**read, settings=ProgramSettings(**stored | chosen), api_token_masked=masked)
