"""Programs: the first of a server, their settings, the sandbox beside each, in which all is tried, and their end."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Boolean, Connection, delete, insert, select, update

from storage.access import assistants, program_keys, sessions, workspaces
from storage.access.program_keys import NewKey
from storage.engine import audit, database, feed
from storage.engine.statements import read_statement
from storage.lists.programs import TERMS, Program, lock_program, read_program
from storage.management import agent_caps, partners, special_terms
from storage.rules import settings
from storage.rules.errors import FieldError, Forbidden, NotFound, PreconditionFailed, ProgramHasEvents, ValidationError
from storage.rules.reports.metrics import Totals
from storage.rules.settings import ProgramSettings
from storage.tables import commission_terms, metadata, partner_rollups, program_places, programs, rollups
from storage.tracking import currencies

MOST_CHOICES = 30
LOGS = ("audit_entries", "changes", "change_counters")  # what a deleted program leaves
KEPT = {
    *LOGS,
    *("agent_caps", "commission_terms", "payment_accounts", "program_keys", "program_places", "retired_program_keys"),
    *("coupons", "partners", "partner_rollups", "payout_methods", "portal_accounts", "portal_tokens"),
    *("program_batches", "rollups"),
}
EVENTS = [  # in an order in which no row refers to a deleted one
    table for table in reversed(metadata.sorted_tables) if "program_id" in table.c and table.name not in KEPT
]
_CHOICES = read_statement("program_choices", is_sandbox=Boolean)
_FIRST_EVENT, _FIRST_AMOUNT = read_statement("first_event"), read_statement("first_amount")


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
) -> tuple[int, NewKey, sessions.Started]:
    """Create the first workspace, program and key, and sign the owner in. Raises Forbidden, CurrencyNotSupported."""
    database.lock_alone(connection, database.SETTING_UP)
    if workspaces.exist(connection):
        raise Forbidden("This server is set up already.")
    email = email.lower()
    account: Any = {"owner_email": email, "password_hash": password_hash}
    workspace_id, user_id = workspaces.create(connection, workspace, **account, at=at)
    actor = audit.Actor("user", str(user_id), email)
    program_id = create(connection, workspace_id, chosen, by=audit.By(actor, at))
    key = program_keys.regenerate(connection, program_id, by=audit.By(actor, at))
    partners.enrol(connection, program_id, **partner, by=audit.By(actor, at))
    return program_id, key, sessions.start(connection, user_id, client=client, at=at)


def create(
    connection: Connection, workspace_id: int, chosen: ProgramSettings, *, sandbox_of: int | None = None, by: audit.By
) -> int:
    """Create a program with its first terms and its key; return its id. Raises NotFound, CurrencyNotSupported."""
    workspaces.require_workspace(connection, workspace_id)
    currencies.require_current(chosen.currency)
    values = chosen._asdict()
    terms = {name: values.pop(name) for name in TERMS}
    owner = {"workspace_id": workspace_id, "sandbox_of": sandbox_of}
    first = {"terms_version": 1, "revision": 1, "created_at": by.at}
    created = connection.execute(insert(programs).values(**values, **owner, **first).returning(programs.c.id))
    program_id: int = created.scalar_one()
    connection.execute(insert(program_places).values(program_id=program_id))
    connection.execute(insert(commission_terms).values(program_id=program_id, version=1, created_at=by.at, **terms))
    program_keys.create(connection, program_id, at=by.at)
    audit.write(connection, program_id, [audit.Change("program.create", program_id)], by=by)
    return program_id


def change(
    connection: Connection,
    program_id: int,
    changes: Mapping[str, Any],
    *,
    expected_revisions: Collection[int] | None = None,
    by: audit.By,
) -> Program:
    """Change settings, named as in the APIs or ProgramSettings, and return the program; terms are for later sales."""
    program = lock_program(connection, program_id)
    if expected_revisions is not None and program.revision not in expected_revisions:
        raise PreconditionFailed
    before = program.settings._asdict()
    after = before | settings.stored(changes, kind=program.settings.commission_type)
    differing = {name for name in before if before[name] != after[name]}
    if by.actor.is_agent:
        agent_caps.require_within(connection, program_id, program.settings, ProgramSettings(**after), at=by.at)
    if "currency" in differing:
        if is_currency_fixed(connection, program_id):
            fixed = FieldError("currency", "Fixed once a sale or commission is recorded: create another program")
            raise ValidationError(fields=[fixed])
        currencies.require_current(after["currency"])
    if differing:
        changed: Any = {"at": by.at, "by_agent": by.actor.is_agent}
        _store(connection, program_id, after, **changed, new_terms=not differing.isdisjoint(TERMS))
        if not differing.isdisjoint(special_terms.SHARED):
            special_terms.renew(connection, program_id, ProgramSettings(**after), **changed)
        published = settings.published(program.settings), settings.published(ProgramSettings(**after))
        entries = audit.changed("program.change", program_id, *published)
        audit.write(connection, program_id, entries, by=by)
    return read_program(connection, program_id)


def is_currency_fixed(connection: Connection, program_id: int) -> bool:
    """Return whether a sale or commission is recorded in the program's currency."""
    return connection.execute(_FIRST_AMOUNT, {"program_id": program_id}).first() is not None


def list_choices(connection: Connection, user_id: int) -> Sequence[Any]:
    """Return the first 30 programs of a person's workspaces: by workspace, then by name."""
    return connection.execute(_CHOICES, {"user_id": user_id, "most": MOST_CHOICES}).all()


def _store(
    connection: Connection, program_id: int, after: dict[str, Any], *, at: datetime, by_agent: bool, new_terms: bool
) -> None:
    values = {name: value for name, value in after.items() if name not in TERMS}
    values["revision"] = programs.c.revision + 1
    if new_terms:
        values["terms_version"] = version = special_terms.next_version(connection, program_id)
        terms = {name: after[name] for name in TERMS}
        row = {"program_id": program_id, "version": version, "created_at": at, "by_agent": by_agent}
        connection.execute(insert(commission_terms).values(**row, **terms))
    connection.execute(update(programs).where(programs.c.id == program_id).values(**values))


def open_sandbox(connection: Connection, live_id: int, *, by: audit.By) -> tuple[int, NewKey]:
    """Create a program's sandbox, or give it a new key. Raises NotFound, ValidationError for a sandbox."""
    live = lock_program(connection, live_id)
    if live.sandbox_of is not None:
        raise ValidationError("This program is a sandbox itself.")
    sandbox_id = find_sandbox(connection, live_id)
    if sandbox_id is None:  # with the settings of now
        sandbox_id = create(connection, live.workspace_id, live.settings, by=by, sandbox_of=live_id)
        partners.enrol(connection, sandbox_id, name="Sandbox partner", code="sandbox", by=by)
    return sandbox_id, program_keys.regenerate(connection, sandbox_id, by=by)


def empty_sandbox(connection: Connection, live_id: int, *, by: audit.By) -> None:
    """Delete every event of a program's sandbox; its settings, key and partners stay. Raises NotFound without one."""
    sandbox_id = find_sandbox(connection, live_id)
    if sandbox_id is None:
        raise NotFound("The program has no sandbox.")
    for table in EVENTS:
        connection.execute(delete(table).where(table.c.program_id == sandbox_id))
    zeros = dict.fromkeys((name for name in Totals._fields if name != "partners"), 0)
    for table in (rollups, partner_rollups):
        connection.execute(update(table).where(table.c.program_id == sandbox_id).values(zeros))
    audit.write(connection, sandbox_id, [audit.Change("sandbox.empty", sandbox_id)], by=by)


def find_sandbox(connection: Connection, live_id: int) -> int | None:
    """Return the id of a program's sandbox, None if it has none."""
    return connection.execute(select(programs.c.id).where(programs.c.sandbox_of == live_id)).scalar()


def has_events(connection: Connection, program_id: int) -> bool:
    """Return whether a program has an event, so that it can no longer be deleted."""
    return connection.execute(_FIRST_EVENT, {"program_id": program_id}).first() is not None


def delete_program(connection: Connection, program_id: int, *, by: audit.By) -> None:
    """Delete a program with all that is its own or was granted for it; the audit log and the feed stay."""
    program = lock_program(connection, program_id)
    if program.sandbox_of is None and has_events(connection, program_id):
        raise ProgramHasEvents
    deleted = [each for each in (find_sandbox(connection, program_id), program_id) if each is not None]
    for each in deleted:
        for table in reversed(metadata.sorted_tables):
            if "program_id" in table.c and table.name not in LOGS:
                connection.execute(delete(table).where(table.c.program_id == each))
        connection.execute(delete(programs).where(programs.c.id == each))
        assistants.remove_program(connection, each, workspace_id=program.workspace_id, by=by)
    change = audit.Change("program.delete", program_id, before=program.settings.name)
    audit.write(connection, program.sandbox_of or program_id, [change], by=by)
    feed.forget(connection, deleted)
