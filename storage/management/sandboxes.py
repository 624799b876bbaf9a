"""Sandboxes: a program beside each live one, in which everything can be tried; and what deletes both kinds."""

from datetime import datetime

from sqlalchemy import Connection, delete, select, union_all, update

from storage.access import assistants
from storage.access import program_keys as keys
from storage.access.program_keys import NewKey
from storage.engine import audit
from storage.engine.audit import Actor
from storage.lists.programs import read_program
from storage.management import partners, program_settings
from storage.rules.errors import NotFound, ProgramHasEvents, ValidationError
from storage.tables import (
    clicks,
    customers,
    ledger_entries,
    metadata,
    partner_rollups,
    payment_events,
    programs,
    rollups,
)
from storage.tables.event import COUNTS

KEPT = {
    *("agent_caps", "commission_terms", "payment_accounts", "program_keys", "program_places", "retired_program_keys"),
    *("audit_entries", "partners", "partner_rollups", "program_batches", "rollups"),
}
EVENTS = [  # in an order in which no row refers to a deleted one
    table for table in reversed(metadata.sorted_tables) if "program_id" in table.c and table.name not in KEPT
]
FIRST_EVENTS = (clicks, customers, ledger_entries, payment_events)  # leads, sales and refunds have a customer


def open_sandbox(connection: Connection, live_id: int, *, actor: Actor, at: datetime) -> tuple[int, NewKey]:
    """Create the sandbox of a program, or give the one that it has a new key; return its id and the key.

    A new sandbox has the live program's settings of that time and one partner, whose code is `sandbox`.
    Raises NotFound, ValidationError for a program that is a sandbox itself.
    """
    connection.execute(select(programs.c.id).where(programs.c.id == live_id).with_for_update())
    live = read_program(connection, live_id)
    if live.sandbox_of is not None:
        raise ValidationError("This program is a sandbox itself.")
    sandbox_id = find(connection, live_id)
    if sandbox_id is None:
        sandbox_id = program_settings.create(
            connection, live.workspace_id, live.settings, at=at, actor=actor, sandbox_of=live_id
        )
        partners.enrol(connection, sandbox_id, name="Sandbox partner", code="sandbox", at=at, actor=actor)
    return sandbox_id, keys.regenerate(connection, sandbox_id, at=at, actor=actor)


def empty(connection: Connection, live_id: int, *, actor: Actor, at: datetime) -> None:
    """Delete every event of a program's sandbox; its settings, key and partners stay. Raises NotFound without one."""
    sandbox_id = find(connection, live_id)
    if sandbox_id is None:
        raise NotFound("The program has no sandbox.")
    for table in EVENTS:
        connection.execute(delete(table).where(table.c.program_id == sandbox_id))
    zeros = dict.fromkeys((name for name in COUNTS if name != "partners"), 0)
    for table in (rollups, partner_rollups):
        connection.execute(update(table).where(table.c.program_id == sandbox_id).values(zeros))
    audit.write(connection, sandbox_id, [audit.Change("sandbox.empty", sandbox_id)], actor=actor, at=at)


def find(connection: Connection, live_id: int) -> int | None:
    """Return the id of a program's sandbox, None if it has none."""
    return connection.execute(select(programs.c.id).where(programs.c.sandbox_of == live_id)).scalar()


def has_events(connection: Connection, program_id: int) -> bool:
    """Return whether a program has an event, so that it can no longer be deleted."""
    events = union_all(*(select(table.c.program_id).where(table.c.program_id == program_id) for table in FIRST_EVENTS))
    return connection.execute(events.limit(1)).first() is not None


def delete_program(connection: Connection, program_id: int, *, actor: Actor, at: datetime) -> None:
    """Delete a program with its settings, key, partners, tests and sandbox, and what was granted for it.

    A live one can be deleted only before its first event. The audit log stays. Raises NotFound, ProgramHasEvents.
    """
    connection.execute(select(programs.c.id).where(programs.c.id == program_id).with_for_update())
    program = read_program(connection, program_id)
    if program.sandbox_of is None and has_events(connection, program_id):
        raise ProgramHasEvents
    sandbox_id = find(connection, program_id)
    for each in (sandbox_id, program_id):
        if each is not None:
            for table in reversed(metadata.sorted_tables):
                if "program_id" in table.c and table.name != "audit_entries":
                    connection.execute(delete(table).where(table.c.program_id == each))
            connection.execute(delete(programs).where(programs.c.id == each))
            assistants.remove_program(connection, each, workspace_id=program.workspace_id, actor=actor, at=at)
    change = audit.Change("program.delete", program_id, before=program.settings.name)
    audit.write(connection, program.sandbox_of or program_id, [change], actor=actor, at=at)
