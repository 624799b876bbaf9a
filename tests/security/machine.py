"""The machine of the matrix over time: a database in memory, its model, every credential ever made, and time."""

import sqlite3
from collections.abc import Callable, Iterable
from contextlib import suppress
from copy import deepcopy
from datetime import timedelta
from functools import wraps
from typing import Any, ClassVar, TypeVar

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule
from sqlalchemy import Connection, create_engine, event
from sqlalchemy.pool import StaticPool

from storage.engine import copying, database
from storage.engine.audit import OPERATOR, Actor, By
from storage.rules.errors import NotFound, ServiceError
from tests.security.asking import ask
from tests.security.rights import Grant, Kind, Reach, Rights
from tests.world import NOW

Row = TypeVar("Row")
PICK = st.integers(0, 11)
ABSENT = 10**6


def opened(template: bytes) -> Connection:
    """Return a connection to a database in memory."""
    raw = sqlite3.connect(":memory:", isolation_level=None)
    raw.deserialize(template)
    raw.execute("PRAGMA foreign_keys = ON")
    engine = create_engine("sqlite://", creator=lambda: raw, poolclass=StaticPool)
    event.listen(engine, "begin", lambda connection: connection.exec_driver_sql("BEGIN"))
    return engine.connect()


def pick(rows: Iterable[Row], number: int) -> Row:
    """Return one of the rows. Raises NotFound without any."""
    known = list(rows)
    if not known:
        raise NotFound
    return known[number % len(known)]


def step(*, gives: bool = False, **numbers: Any) -> Callable[[Callable[..., None]], Any]:
    """Return a rule; a step that is rejected, or only `gives` a credential, changes nothing for the others."""

    def of(function: Callable[..., None]) -> Any:
        @rule(**numbers)
        @wraps(function)
        def run(self: Any, **chosen: Any) -> None:
            with suppress(ServiceError):
                function(self, **chosen)
                self.changed = not gives

        return run

    return of


class Machine(RuleBasedStateMachine):
    """A database, `rights` as they are, and `made`, every credential that ever was."""

    template: ClassVar[bytes]
    first: ClassVar[tuple[bytes, Rights, list[str]] | None] = None  # how every run begins

    def __init__(self) -> None:
        super().__init__()
        self.connection = opened(self.first[0] if self.first else self.template)
        self.rights, self.at, self.changed = deepcopy(self.first[1]) if self.first else Rights(), NOW, False
        self.made = [*self.first[2]] if self.first else []
        self.backups: list[tuple[bytes, Rights]] = [self.first[:2]] if self.first else []

    def teardown(self) -> None:
        raw = self.raw
        self.connection.close()
        raw.close()

    @property
    def raw(self) -> Any:
        return self.connection.connection.driver_connection

    def do(self, operation: Callable[..., Any], *values: Any, **options: Any) -> Any:
        with self.connection.begin():
            return operation(self.connection, *values, **options)

    def by(self, user_id: int = 0) -> dict[str, Any]:
        """Return who acts, and when: an account, or the operator."""
        return {"by": By(Actor("user", str(user_id), "someone") if user_id else OPERATOR, self.at)}

    def assigned(self, table: str, row_id: int) -> int:
        """Return the id of a new row, which no row of the table ever had."""
        assert (table, row_id) not in self.rights.given_out, f"the id {row_id} of {table} is used again"
        self.rights.given_out.add((table, row_id))
        return row_id

    def give(self, token: str, grant: Grant) -> None:
        """Remember a new credential; one that is no link for someone else reaches what it was given for."""
        self.made.append(token)
        self.rights.grants[token] = grant
        if grant.kind not in {Kind.RESET, Kind.INVITATION}:
            assert self.reached(token) == self.rights.may(token, self.at), grant

    def reached(self, token: str) -> Reach:
        gone = sorted(number for table, number in self.rights.given_out if table == "programs")[-2:]
        return ask(self.connection, token, sorted({*self.rights.programs, *gone, ABSENT}), self.at)

    @invariant()
    def no_credential_reaches_more_than_it_may(self) -> None:
        asked, self.changed = self.made if self.changed else (), False
        for token in asked:
            more = self.reached(token) - self.rights.may(token, self.at)
            assert not more, (token, self.rights.grants.get(token), more)

    @step(hours=st.sampled_from([1, 25, 24 * 8]))
    def wait(self, hours: int) -> None:
        self.at += timedelta(hours=hours)

    @step(way=st.sampled_from(["copy", "back up", "restore"]), backup=PICK)
    def move(self, way: str, backup: int) -> None:
        """Do what `svc admin copy`, `backup` and `restore` do: what was made since a backup is unknown to it."""
        if way == "back up":
            self.backups.append((self.raw.serialize(), deepcopy(self.rights)))
            return
        if way == "copy":
            target = self.copied()
        else:
            stored, rights = pick(self.backups, backup)
            target, self.rights = opened(stored), deepcopy(rights)
        self.teardown()
        self.connection = target

    def copied(self) -> Connection:
        target = opened(self.template)
        chunks = [(table, self.do(copying.read_chunk, table, None)) for table in copying.TABLES]
        largest = self.do(database.largest_assigned_ids)
        with target.begin():
            for table, rows in chunks:
                if rows:
                    target.execute(table.insert(), rows)
            database.assign_ids_above(target, largest)
            highest = database.largest_assigned_ids(target)
        assert all(number <= highest[table] for table, number in self.rights.given_out)
        return target
