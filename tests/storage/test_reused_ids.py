"""The migration that ends the reuse of ids: on SQLite it changes the schema only, and ids go on above all that were."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
from alembic import command
from sqlalchemy import Connection, MetaData, insert, text

from storage import migrations
from storage.engine import assigned_ids, database
from storage.engine.lane import WriteLane
from tests.storage.test_migrations import MARCH, ROWS, difference

NAMES = dict.fromkeys(("client_id", "name", "host", "scopes", "resource", "redirect_uri", "code_challenge"), "-")
GRANT = {"id": 1, "user_id": 1, "workspace_id": 1, "connected_at": MARCH, "program_ids": "1 70"}
KEY = {"workspace_id": 1, "name": "-", "last4": "-", "scopes": "-", "created_at": MARCH}
ENTRY = {"id": 1, "actor_type": "user", "actor_id": "1", "actor_name": "-", "action": "-", "at": MARCH}
LEFT: dict[str, list[dict[str, Any]]] = {  # what is left of programs up to 72, beside program 1
    **{table: ROWS[table] for table in ("workspaces", "programs", "commission_terms", "partners")},
    "users": [{"id": 1, "email": "-", "password_hash": "-", "created_at": MARCH}],
    "assistants": [NAMES | GRANT],
    "agent_keys": [KEY | {"key_hash": "a", "program_ids": "71"}, KEY | {"key_hash": "b", "program_ids": None}],
    "audit_entries": [ENTRY | {"program_id": 72}],
}
NEW_PROGRAM = "INSERT INTO programs (workspace_id, name, domain, created_at) VALUES (1, '-', '-', 1) RETURNING id"


@pytest.fixture
async def writer(empty_url: str) -> AsyncIterator[WriteLane]:
    """A lane of a database of the schema before, with rows."""
    lane, *_ = database.writers(database.parse_url(empty_url))
    await to(lane, "0035")
    await lane.run(fill)
    yield lane
    await lane.close()


async def to(lane: WriteLane, revision: str, change: Any = command.upgrade) -> None:
    await lane.run(lambda connection: change(migrations.config_for(connection), revision))


def fill(connection: Connection) -> None:
    schema = MetaData()
    schema.reflect(connection)
    for table, rows in LEFT.items():
        connection.execute(insert(schema.tables[table]), rows)


def described(connection: Connection) -> dict[str, Any]:
    """Return the rows, the indexes and the foreign keys of each table."""
    schema = MetaData()
    schema.reflect(connection)
    return {
        table.name: (
            sorted(map(repr, connection.execute(table.select()))),
            sorted(str((index.name, index.unique, index.columns.keys())) for index in table.indexes),
            sorted(str((key.name, key.column_keys, key.referred_table.name)) for key in table.foreign_key_constraints),
        )
        for table in schema.sorted_tables
        if table.name != "alembic_version"
    }


def broken(connection: Connection) -> list[Any]:
    """Return what SQLite finds wrong with the file."""
    if connection.dialect.name == "postgresql":
        return []
    checks = [connection.execute(text(f"PRAGMA {check}")).all() for check in ("integrity_check", "foreign_key_check")]
    return [row for rows in checks for row in rows if row != ("ok",)]


async def test_ids_go_on_above_those_of_deleted_programs_and_nothing_else_changes(writer: WriteLane):
    before = await writer.run(described)

    await to(writer, "0036")

    assert await writer.run(described) == before
    assert await writer.run(lambda connection: connection.execute(text(NEW_PROGRAM)).scalar()) == 73
    assert await writer.run(broken) == []


async def test_the_migration_can_be_reversed_and_applied_again(writer: WriteLane):
    for revision, change in (("0036", command.upgrade), ("0035", command.downgrade), ("head", command.upgrade)):
        await to(writer, revision, change)

    assert await writer.run(difference) == []
    assert (await writer.run(assigned_ids.largest))["programs"] == 72
