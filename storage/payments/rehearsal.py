"""Rehearsal: an event that an owner sends to a program's sandbox, as if the processor had signed it."""

from datetime import datetime

from sqlalchemy import Connection, and_, or_, select

from storage.engine.audit import Actor
from storage.payments import processing
from storage.payments.processing import EventOutcome
from storage.rules.errors import NotFound
from storage.rules.payment import ProcessorEvent
from storage.tables import programs


def receive(
    connection: Connection,
    program_id: int,
    event: ProcessorEvent,
    *,
    actor: Actor,  # noqa: ARG001 - every write of an owner has one; a sandbox's events are not audited
    at: datetime,
) -> EventOutcome:
    """Process an event in a sandbox, named itself or by its live program. Raises NotFound without one.

    No other program can be reached this way: what is not signed never earns.
    """
    itself = and_(programs.c.id == program_id, programs.c.sandbox_of.is_not(None))
    sandbox = select(programs.c.id).where(or_(itself, programs.c.sandbox_of == program_id))
    sandbox_id = connection.execute(sandbox).scalar()
    if sandbox_id is None:
        raise NotFound("The program has no sandbox.")
    return processing.process(connection, sandbox_id, event, at=at)
