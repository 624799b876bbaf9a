"""Programs with their settings: create and change them, the first of a server, and those that a person may open."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import Connection, insert, select, update

from storage.access import program_keys, sessions, workspaces
from storage.access.program_keys import NewKey
from storage.access.sessions import Started
from storage.access.workspaces import MemberStatus
from storage.engine import audit, database
from storage.engine.audit import Actor
from storage.lists.programs import TERMS, Program, read_program
from storage.management import agent_caps, partners
from storage.rules import settings
from storage.rules.errors import FieldError, Forbidden, PreconditionFailed, ValidationError
from storage.rules.settings import ProgramSettings
from storage.tables import commission_terms, commissions, members, program_places, programs, sales
from storage.tables import workspaces as places
from storage.tracking import currencies

MOST_CHOICES = 30


class SetUp(NamedTuple):
    """The new program, its key, and the owner's session; the key and the session's token are shown once."""

    program_id: int
    key: NewKey
    session: Started


def set_up(
    connection: Connection,
    chosen: ProgramSettings,
    *,
    workspace: str,
    email: str,
    password_hash: str,
    partner: Mapping[str, Any],
    client: str | None,
    at: datetime,
) -> SetUp:
    """Create the first workspace and sign its owner in; one of two at once. Raises Forbidden, CurrencyNotSupported."""
    database.lock_alone(connection, database.SETTING_UP)
    if workspaces.exist(connection):
        raise Forbidden("This server is set up already.")
    email = email.lower()
    owned = workspaces.create(connection, workspace, owner_email=email, password_hash=password_hash, at=at)
    workspace_id, user_id = owned
    actor = Actor("user", str(user_id), email)
    program_id = create(connection, workspace_id, chosen, at=at, actor=actor)
    key = program_keys.regenerate(connection, program_id, at=at, actor=actor)
    partners.enrol(connection, program_id, **partner, at=at, actor=actor)
    return SetUp(program_id, key, sessions.start(connection, user_id, client=client, at=at))


def create(
    connection: Connection,
    workspace_id: int,
    chosen: ProgramSettings,
    *,
    at: datetime,
    actor: Actor | None = None,
    sandbox_of: int | None = None,
) -> int:
    """Create a program with its first commission terms and its key; return its id. Raises CurrencyNotSupported."""
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
    program = read_program(connection, program_id)
    if expected_revision is not None and expected_revision != program.revision:
        raise PreconditionFailed
    before = program.settings._asdict()
    after = before | settings.stored(changes, kind=program.settings.commission_type)
    differing = {name for name in before if before[name] != after[name]}
    if actor.is_agent:
        agent_caps.require_within(connection, program_id, program.settings, ProgramSettings(**after), at=at)
    if "currency" in differing:
        if is_currency_fixed(connection, program_id):
            fixed = FieldError("currency", "Fixed once a sale or commission is recorded: create another program")
            raise ValidationError(fields=[fixed])
        currencies.require_current(after["currency"])
    if differing:
        _store(connection, program_id, after, at=at, by_agent=actor.is_agent, new_terms=not differing.isdisjoint(TERMS))
        published = settings.published(program.settings), settings.published(ProgramSettings(**after))
        entries = audit.changed("program.change", program_id, *published)
        audit.write(connection, program_id, entries, actor=actor, at=at)
    return read_program(connection, program_id)


def is_currency_fixed(connection: Connection, program_id: int) -> bool:
    """Return whether a sale or commission is recorded in the program's currency."""
    earned = (select(table.c.id).where(table.c.program_id == program_id).limit(1) for table in (sales, commissions))
    return any(connection.execute(each).scalar() for each in earned)


def list_choices(connection: Connection, user_id: int) -> Sequence[Any]:
    """Return the first 30 programs of a person's workspaces: by workspace, then by name."""
    active = (members.c.user_id == user_id, members.c.status == MemberStatus.ACTIVE)
    columns = (programs.c.id, programs.c.name, programs.c.workspace_id, places.c.name.label("workspace"))
    is_sandbox = programs.c.sandbox_of.is_not(None).label("is_sandbox")
    mine = select(*columns, is_sandbox).select_from(programs.join(places).join(members)).where(*active)
    ordered = mine.order_by(programs.c.workspace_id, programs.c.name, programs.c.id)
    return connection.execute(ordered.limit(MOST_CHOICES)).all()


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
