"""What the agent API rejected of an agent key in a program: counted by cause, so that no key can fill the table."""

from datetime import datetime
from typing import NamedTuple

from sqlalchemy import Connection, select

from storage.access import agent_keys
from storage.engine.database import insert_for
from storage.rules.errors import ServiceError
from storage.tables import agent_rejections

_row = agent_rejections.c


class AgentRejection(NamedTuple):
    """The rejected calls of a key with one error code; `about` is the cap or the scope, empty for other errors."""

    agent_key_id: int
    code: str
    about: str
    calls: int
    first_at: datetime
    last_at: datetime


def add(connection: Connection, credential: str | None, program_id: int, error: ServiceError, *, at: datetime) -> None:
    """Count a rejected call. Raises InvalidKey, WrongKeyType, ProgramNotAllowed for a key that reaches no program."""
    key = agent_keys.authorize(connection, credential, scope=None, program_id=program_id, at=at)
    about = error.details.get("cap") or error.details.get("required_scope") or ""
    cause = {"program_id": program_id, "agent_key_id": key.id, "code": error.code, "about": about}
    first = insert_for(connection)(agent_rejections).values(**cause, calls=1, first_at=at, last_at=at)
    again = {"calls": _row.calls + 1, "last_at": at}
    connection.execute(first.on_conflict_do_update(index_elements=list(cause), set_=again))


def list_all(connection: Connection, program_id: int) -> list[AgentRejection]:
    """Return what was rejected in a program, the latest first."""
    columns = [_row[name] for name in AgentRejection._fields]
    mine = select(*columns).where(_row.program_id == program_id).order_by(_row.last_at.desc())
    return [AgentRejection(*each) for each in connection.execute(mine)]
