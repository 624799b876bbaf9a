"""Ids and cursors: ids ascend and are never given out twice; an invented cursor does no harm."""

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import Connection, delete, insert

from storage.engine import cursors, database, ids
from storage.engine.cursors import cut, edge_of
from storage.lists.declaration import ListQuery, ListScope, Page
from storage.lists.find import find
from storage.lists.partners import PARTNERS
from storage.rules.errors import ValidationError
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


def add(connection: Connection, name: str) -> int:
    """Add a row and delete it; return its id."""
    table = metadata.tables[name]
    row_id = connection.execute(insert(table).values(**ROWS[name]).returning(table.c.id)).scalar_one()
    connection.execute(delete(table).where(table.c.id == row_id))
    return int(row_id)


async def test_ids_of_deleted_rows_are_not_given_out_again_and_go_on_above_those_of_another_database(acme: World):
    for table in database.ASSIGNED:
        first, second = [await acme.store.write(add, table) for _ in range(2)]
        own = await acme.store.read(database.largest_assigned_ids)

        await acme.store.write(database.assign_ids_above, own | {table: 70})
        above = await acme.store.write(add, table)
        await acme.store.write(database.assign_ids_above, own)

        assert second > first, table
        assert own[table] == second, table
        assert (above, await acme.store.write(add, table)) == (71, 72), table


def test_ids_ascend_even_if_the_clock_is_set_back_threads_share_none_and_they_are_exact_in_json_until_the_year_2300():
    later, earlier = ids.after(NOW, 3), ids.after(NOW - timedelta(days=365), 3)

    assert [*later, *earlier] == sorted({*later, *earlier})
    assert ids.first(datetime(2300, 1, 1, tzinfo=UTC)) < 2**53
    with ThreadPoolExecutor(8) as threads:
        given = [n for batch in threads.map(lambda _: list(ids.after(NOW, 50)), range(40)) for n in batch]

    assert len(set(given)) == 2_000


async def test_a_cursor_names_exactly_what_the_list_expects_the_last_page_has_none_and_an_invented_one_is_read(
    acme: World,
):
    page = cut([3, 2, 1], 2, None, Page([]))

    assert page.data == [3, 2]
    assert edge_of(page.next_cursor, int) == ([2], False)
    with pytest.raises(ValidationError):
        edge_of(page.next_cursor, int, str)
    assert cut([2, 1], 2, None, Page([])) == Page([2, 1])
    largest = cut([cursors.LARGEST_ID, 0], 1, None, Page([])).next_cursor
    found = await acme.store.read(find, PARTNERS, ListScope(acme.program_id, NOW), ListQuery(50, largest))
    assert found.next_cursor is None
