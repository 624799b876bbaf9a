"""Programs with their settings: create, get, list and change them."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import Connection, Select, insert, select, update

from storage.access import program_keys
from storage.engine import audit, pagination
from storage.engine.audit import Actor
from storage.engine.pagination import FIRST_PAGE, Page, Paging
from storage.management import agent_caps
from storage.rules import keys, settings
from storage.rules.errors import FieldError, NotFound, PreconditionFailed, ValidationError
from storage.rules.setting_kinds import Kind
from storage.rules.settings import SETTINGS, ProgramSettings
from storage.tables import commission_terms, commissions, program_places, programs, sales
from storage.tables import program_keys as held
from storage.tracking import currencies

TERMS = tuple(setting.name for setting in SETTINGS if setting.is_term)


class Program(NamedTuple):
    """A program as a read may show it, with a masked key; `revision` (the ETag) grows with every change.

    `sandbox_of` is the live program that a sandbox belongs to, None for a live program.
    """

    id: int
    workspace_id: int
    settings: ProgramSettings
    revision: int
    sandbox_of: int | None
    api_token_masked: str
    flagged_at: datetime | None
    rotate_by: datetime | None
    created_at: datetime


def create(
    connection: Connection,
    workspace_id: int,
    chosen: ProgramSettings,
    *,
    at: datetime,
    actor: Actor | None = None,
    sandbox_of: int | None = None,
) -> int:
    """Create a program with its first commission terms and its key; return its id.

    Raises CurrencyNotSupported for a code that is no currency.
    """
    currencies.require_current(chosen.currency)
    values = chosen._asdict()
    terms = {name: values.pop(name) for name in TERMS}
    owner = {"workspace_id": workspace_id, "sandbox_of": sandbox_of}
    first = {"terms_version": 1, "revision": 1, "created_at": at}
    created = connection.execute(insert(programs).values(**values, **owner, **first).returning(programs.c.id))
    program_id: int = created.scalar_one()
    connection.execute(insert(program_places).values(program_id=program_id))
    connection.execute(insert(commission_terms).values(program_id=program_id, version=1, created_at=at, **terms))
    program_keys.create(connection, program_id, at=at)
    audit.write(connection, program_id, [audit.Change("program.create", program_id)], actor=actor, at=at)
    return program_id


def get_program(connection: Connection, program_id: int) -> Program:
    """Return a program. Raises NotFound when there is none with this id."""
    row = connection.execute(select_rows().where(programs.c.id == program_id)).one_or_none()
    if row is None:
        raise NotFound("There is no such program.")
    return of_row(row)


def list_programs(
    connection: Connection,
    *,
    workspace_ids: Sequence[int],
    program_ids: Sequence[int] | None = None,
    are_sandboxes: bool | None = None,
    paging: Paging = FIRST_PAGE,
) -> Page[Program]:
    """Return a page of the workspaces' programs, newest first.

    Only `program_ids` unless that is None; only sandboxes, or only live programs, unless `are_sandboxes` is None.
    """
    mine = select_rows().where(programs.c.workspace_id.in_(workspace_ids))
    if program_ids is not None:
        mine = mine.where(programs.c.id.in_(program_ids))
    if are_sandboxes is not None:
        mine = mine.where(programs.c.sandbox_of.is_not(None) if are_sandboxes else programs.c.sandbox_of.is_(None))
    return pagination.by_id(connection, mine, programs.c.id, paging, of_row)


def change(
    connection: Connection,
    program_id: int,
    changes: Mapping[str, Any],
    *,
    actor: Actor,
    at: datetime,
    expected_revision: int | None = None,
) -> Program:
    """Change a program's settings and return it; new terms apply to later sales only.

    `changes` are fields of ProgramSettings, or settings as the APIs name them.
    Raises NotFound, PreconditionFailed when `expected_revision` is not the current one, ValidationError for a rate
    that does not fit the commission type, CurrencyNotSupported; OverCap for an agent key beyond the owner's caps.
    """
    connection.execute(select(programs.c.id).where(programs.c.id == program_id).with_for_update())
    program = get_program(connection, program_id)
    if expected_revision is not None and expected_revision != program.revision:
        raise PreconditionFailed
    before = program.settings._asdict()
    after = before | settings.stored(changes, kind=program.settings.commission_type)
    differing = {name for name in before if before[name] != after[name]}
    if actor.is_agent:
        agent_caps.require_within(connection, program_id, program.settings, ProgramSettings(**after), at=at)
    if "currency" in differing:
        _require_unearned(connection, program_id)
        currencies.require_current(after["currency"])
    if differing:
        _store(connection, program_id, after, at=at, by_agent=actor.is_agent, new_terms=not differing.isdisjoint(TERMS))
        published = settings.published(program.settings), settings.published(ProgramSettings(**after))
        entries = audit.changed("program.change", program_id, *published)
        audit.write(connection, program_id, entries, actor=actor, at=at)
    return get_program(connection, program_id)


def _require_unearned(connection: Connection, program_id: int) -> None:
    for table in (sales, commissions):
        if connection.execute(select(table.c.id).where(table.c.program_id == program_id).limit(1)).scalar():
            fixed = FieldError("currency", "Fixed once a sale or commission is recorded: create another program")
            raise ValidationError(fields=[fixed])


def _store(
    connection: Connection, program_id: int, after: dict[str, Any], *, at: datetime, by_agent: bool, new_terms: bool
) -> None:
    values = {name: value for name, value in after.items() if name not in TERMS}
    values["revision"] = programs.c.revision + 1
    values["terms_version"] = programs.c.terms_version + int(new_terms)
    changed = update(programs).where(programs.c.id == program_id).values(**values)
    version = connection.execute(changed.returning(programs.c.terms_version)).scalar_one()
    if new_terms:
        terms = {name: after[name] for name in TERMS}
        row = {"program_id": program_id, "version": version, "created_at": at, "by_agent": by_agent}
        connection.execute(insert(commission_terms).values(**row, **terms))


def select_rows() -> Select[Any]:
    """Return the statement that reads programs with their terms and their key."""
    current = (commission_terms.c.program_id == programs.c.id) & (
        commission_terms.c.version == programs.c.terms_version
    )
    key = (held.c.prefix, held.c.last4, held.c.flagged_at, held.c.rotate_by)
    terms = [commission_terms.c[name] for name in TERMS]
    joined = programs.join(commission_terms, current).join(held, held.c.program_id == programs.c.id)
    return select(*programs.c, *terms, *key).select_from(joined)


def of_row(row: Any) -> Program:
    """Read a program."""
    stored = {setting.name: getattr(row, setting.name) for setting in SETTINGS}
    chosen = {each.name: each.value_type(stored[each.name]) for each in SETTINGS if each.kind == Kind.CHOICE}
    masked = keys.mask(row.prefix, row.last4)
    return Program(
        row.id,
        row.workspace_id,
        ProgramSettings(**stored | chosen),
        row.revision,
        row.sandbox_of,
        masked,
        row.flagged_at,
        row.rotate_by,
        row.created_at,
    )
