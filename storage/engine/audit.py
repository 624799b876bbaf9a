"""The audit log of changes: who, when, and the values before and after. Each change logs in its own transaction."""

import json
from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import Connection, insert, select

from storage.engine import ids, pagination
from storage.engine.pagination import FIRST_PAGE, Page, Paging
from storage.rules.periods.period import ALWAYS, Span
from storage.tables import audit_entries


class Actor(NamedTuple):
    """Who makes a change: `type` is `user`, `agent_key` or `operator`; `name` an e-mail address or a key's name."""

    type: str
    id: str
    name: str

    @property
    def is_agent(self) -> bool:
        """Return whether an agent key makes the change, to which an owner's limits apply."""
        return self.type == AGENT_KEY

    @property
    def user_id(self) -> int | None:
        """The account that makes the change; None for an agent key and for the operator."""
        return int(self.id) if self.type == USER else None


AGENT_KEY = "agent_key"
USER = "user"
OPERATOR = Actor("operator", "svc", "svc admin")


class Change(NamedTuple):
    """One change: `action` as `noun.verb`, on `subject_id`; of one field, or of none. Never a secret's value."""

    action: str
    subject_id: int | None = None
    field: str | None = None
    before: Any = None
    after: Any = None


class Entry(NamedTuple):
    """One line of the log; `before` and `after` are the JSON values that the field had."""

    id: int
    at: datetime
    actor: Actor
    action: str
    subject_id: str | None
    field: str | None
    before: Any
    after: Any


def write(
    connection: Connection, program_id: int, changes: Sequence[Change], *, actor: Actor | None, at: datetime
) -> None:
    """Append entries to a program's log; changes without an actor (by the service itself) are not logged."""
    if actor is None or not changes:
        return
    who = {"actor_type": actor.type, "actor_id": actor.id, "actor_name": actor.name}
    rows = [
        {
            **who,
            "program_id": program_id,
            "id": entry_id,
            "action": change.action,
            "subject_id": None if change.subject_id is None else str(change.subject_id),
            "field": change.field,
            "before": json.dumps(change.before),
            "after": json.dumps(change.after),
            "at": at,
        }
        for entry_id, change in zip(ids.after(at, len(changes)), changes, strict=True)
    ]
    connection.execute(insert(audit_entries), rows)


def changed(action: str, subject_id: int, before: dict[str, Any], after: dict[str, Any]) -> list[Change]:
    """Return one change for each field of `after` that differs from `before`."""
    return [
        Change(action, subject_id, field, before[field], value)
        for field, value in after.items()
        if before[field] != value
    ]


def list_entries(
    connection: Connection,
    program_id: int,
    paging: Paging = FIRST_PAGE,
    *,
    action: str | None = None,
    field: str | None = None,
    span: Span = ALWAYS,
) -> Page[Entry]:
    """Return a page of a program's audit log, newest first; `action` is one, or the noun before its dot."""
    entry = audit_entries.c
    conditions = [entry.program_id == program_id, *pagination.within(entry.id, entry.at, span)]
    if action is not None:
        conditions.append((entry.action == action) | entry.action.startswith(f"{action}.", autoescape=True))
    if field is not None:
        conditions.append(entry.field == field)
    mine = select(audit_entries).where(*conditions)
    return pagination.by_id(connection, mine, audit_entries.c.id, paging, of_row)


def of_row(row: Any) -> Entry:
    """Read an entry."""
    actor = Actor(row.actor_type, row.actor_id, row.actor_name)
    before, after = (None if value is None else json.loads(value) for value in (row.before, row.after))
    return Entry(row.id, row.at, actor, row.action, row.subject_id, row.field, before, after)
