"""The audit log of changes: who, when, and the values before and after. Each change logs in its own transaction."""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import Connection, insert

from storage.engine import feed, ids
from storage.tables import audit_entries


class Actor(NamedTuple):
    type: str  # `user`, `agent_key`, `operator` ...
    id: str
    name: str  # an e-mail address, or the name of a key
    may_pay: bool = True  # some members decide on commissions, but may not say that they are paid

    @property
    def is_agent(self) -> bool:
        """Return whether an agent key makes the change, to which an owner's limits apply."""
        return self.type == AGENT_KEY

    @property
    def key(self) -> str:
        """The type and the id: a member and an agent key may have the same id."""
        return f"{self.type} {self.id}"

    @property
    def user_id(self) -> int | None:
        """The account that makes the change; None for an agent key and for the operator."""
        return int(self.id) if self.type == USER else None


class By(NamedTuple):
    """Who makes a change, and when."""

    actor: Actor
    at: datetime


COLLECTED = "changes that the log gets"
AGENT_KEY = "agent_key"
USER = "user"
OPERATOR = Actor("operator", "svc", "svc admin")
SERVICE = Actor("service", "svc", "svc")  # by itself: its changes are not logged


class Change(NamedTuple):
    """One change: `action` as `noun.verb`, on `subject_id`; of one field, or of none. Never a secret's value."""

    action: str
    subject_id: int | None = None
    field: str | None = None
    before: Any = None
    after: Any = None


def write(connection: Connection, program_id: int, changes: Sequence[Change], *, by: By) -> None:
    """Append entries to a program's log; changes by the service itself are not logged."""
    write_each(connection, [(program_id, each) for each in changes], by=by)


@contextmanager
def collected(connection: Connection, what: str = COLLECTED) -> Iterator[list[Any]]:
    """Return the changes that the block logs, or what else it notes under a name; a block within notes its own."""
    noted: list[Any] = []
    outer, connection.info[what] = connection.info.get(what), noted
    try:
        yield noted
    finally:
        connection.info[what] = outer


def write_each(connection: Connection, changes: Sequence[tuple[int, Change]], *, by: By) -> None:
    """Append entries to the logs of programs by one statement, as `write` does."""
    if by.actor == SERVICE or not changes:
        return
    if (noted := connection.info.get(COLLECTED)) is not None:
        noted.extend(change for _, change in changes)
    who = {"actor_type": by.actor.type, "actor_id": by.actor.id, "actor_name": by.actor.name, "at": by.at}
    rows = []
    for entry_id, (program_id, change) in zip(ids.after(by.at, len(changes)), changes, strict=True):
        subject_id = None if change.subject_id is None else str(change.subject_id)
        values = {"before": json.dumps(change.before), "after": json.dumps(change.after), "subject_id": subject_id}
        rows.append({"program_id": program_id, "id": entry_id, **who, **change._asdict(), **values})
    connection.execute(insert(audit_entries), rows)
    feed.note(connection, [feed.Note(program_id, each.action, by.at, each.subject_id) for program_id, each in changes])


def changed(action: str, subject_id: int, before: dict[str, Any], after: dict[str, Any]) -> list[Change]:
    """Return one change for each field of `after` that differs from `before`."""
    return [
        Change(action, subject_id, field, before[field], value)
        for field, value in after.items()
        if before[field] != value
    ]
