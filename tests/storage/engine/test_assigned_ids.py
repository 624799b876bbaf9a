"""Ids that the database assigns, on each database: none is given out twice."""

from typing import Any

import pytest
from sqlalchemy import Connection, delete, insert

from storage.engine import assigned_ids
from storage.tables import metadata
from tests.world import NOW, World

IN_ACME: dict[str, Any] = {"workspace_id": 1, "created_at": NOW}
ROWS: dict[str, dict[str, Any]] = {
    "workspaces": {"name": "Globex", "created_at": NOW},
    "users": {"email": "gina@globex.example", "password_hash": "-", "created_at": NOW},
    "programs": {**IN_ACME, "name": "Globex", "domain": "globex.example"},
    "agent_keys": {**IN_ACME, "name": "Helper", "key_hash": "-", "last4": "-", "scopes": "-"},
    "invitations": {**IN_ACME, "token_hash": "-", "email": "-", "role": "-", "expires_at": NOW},
}


def add(connection: Connection, table: str) -> int:
    """Add a row and delete it; return its id."""
    row = ROWS[table]
    column = metadata.tables[table].c.id
    row_id: int = connection.execute(insert(metadata.tables[table]).values(**row).returning(column)).scalar_one()
    connection.execute(delete(metadata.tables[table]).where(column == row_id))
    return row_id


@pytest.mark.parametrize("table", assigned_ids.TABLES)
async def test_the_id_of_a_deleted_row_is_not_given_out_again(acme: World, table: str):
    first, second = [await acme.store.write(add, table) for _ in range(2)]

    assert second > first
    assert (await acme.store.read(assigned_ids.largest))[table] == second


@pytest.mark.parametrize("table", assigned_ids.TABLES)
async def test_ids_go_on_above_those_of_another_database_and_never_below_its_own(acme: World, table: str):
    others = await acme.store.read(assigned_ids.largest)

    await acme.store.write(assigned_ids.go_on_above, others | {table: 70})
    above = await acme.store.write(add, table)
    await acme.store.write(assigned_ids.go_on_above, others)

    assert above == 71
    assert await acme.store.write(add, table) == 72
