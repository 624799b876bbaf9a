"""Deletes a program: a live one only before its first event, a sandbox always."""

from datetime import datetime

from sqlalchemy import Connection, delete, select, union_all

from storage.access import agent_keys, assistants
from storage.engine import audit
from storage.engine.audit import Actor
from storage.lists.programs import read_program
from storage.management import sandboxes
from storage.rules.errors import ProgramHasEvents
from storage.tables import (
    audit_entries,
    clicks,
    customers,
    ledger_entries,
    metadata,
    payment_events,
    programs,
)

EVENTS = (clicks, customers, ledger_entries, payment_events)  # leads, sales and refunds have a customer


def delete_program(connection: Connection, program_id: int, *, actor: Actor, at: datetime) -> None:
    """Delete a program with its settings, key, partners, tests and sandbox, and what was granted for it.

    Its audit log stays.

    Raises NotFound, ProgramHasEvents for a live program with a click or more.
    """
    connection.execute(select(programs.c.id).where(programs.c.id == program_id).with_for_update())
    program = read_program(connection, program_id)
    events = union_all(*(select(table.c.program_id).where(table.c.program_id == program_id) for table in EVENTS))
    if program.sandbox_of is None and connection.execute(events.limit(1)).first() is not None:
        raise ProgramHasEvents
    sandbox_id = sandboxes.find(connection, program_id)
    for each in (sandbox_id, program_id):
        if each is not None:
            for table in reversed(metadata.sorted_tables):
                if "program_id" in table.c and table is not audit_entries:
                    connection.execute(delete(table).where(table.c.program_id == each))
            connection.execute(delete(programs).where(programs.c.id == each))
            agent_keys.remove_program(connection, each, workspace_id=program.workspace_id, at=at)
            assistants.remove_program(connection, each, workspace_id=program.workspace_id, actor=actor, at=at)
    change = audit.Change("program.delete", program_id, before=program.settings.name)
    audit.write(connection, program.sandbox_of or program_id, [change], actor=actor, at=at)
