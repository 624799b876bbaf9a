"""Ids and cursors: ids ascend and are never given out twice; an invented cursor does no harm."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from typing import Any

import pytest
from sqlalchemy import Connection, delete, insert

from storage.engine import assigned_ids, audit, ids, pagination
from storage.engine.pagination import LARGEST_ID, Page, Paging
from storage.management import commissions, partners, program_settings
from storage.reading import customer_timelines, events, rejected_calls
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


def test_ids_ascend_even_if_the_clock_is_set_back():
    later = ids.after(datetime(2026, 5, 20, tzinfo=UTC), 3)

    earlier = ids.after(datetime(2025, 5, 20, tzinfo=UTC), 3)

    assert [*later, *earlier] == sorted({*later, *earlier})


def test_threads_never_share_an_id():
    at = datetime(2026, 5, 20, tzinfo=UTC)

    with ThreadPoolExecutor(8) as threads:
        given = [n for batch in threads.map(lambda _: list(ids.after(at, 50)), range(40)) for n in batch]

    assert len(set(given)) == 2_000


def test_ids_are_exact_in_json_until_the_year_2300():
    assert ids.first(datetime(2300, 1, 1, tzinfo=UTC)) < 2**53


LISTS: tuple[Callable[..., Page[Any]], ...] = (
    audit.list_entries,
    commissions.list_commissions,
    customer_timelines.list_customers,
    events.list_events,
    partners.list_partners,
    rejected_calls.list_calls,
)


def test_a_cursor_names_exactly_what_the_list_expects():
    page = pagination.cut([3, 2, 1], 2, key=lambda row: [row], of_row=lambda row: row)

    assert page.data == [3, 2]
    assert pagination.last_id(str(page.next_cursor)) == 2
    with pytest.raises(ValidationError):
        pagination.decode(str(page.next_cursor), int, str)


def test_the_last_page_has_no_cursor():
    assert pagination.cut([2, 1], 2, key=lambda row: [row], of_row=lambda row: row) == ([2, 1], None)


@pytest.mark.anyio
async def test_an_invented_cursor_lists_nothing_or_is_rejected(acme: World):
    invented = pagination.cut([LARGEST_ID, 0], 1, key=lambda row: [row], of_row=lambda row: row).next_cursor
    place = pagination.cut([LARGEST_ID, 0], 1, key=lambda row: [row, "sale", "x"], of_row=lambda row: row).next_cursor

    for each in LISTS:
        cursor = place if each is events.list_events else invented
        page = await acme.store.read(each, acme.program_id, Paging(50, cursor))
        assert page.next_cursor is None
    reach = [acme.workspace_id]
    programs = await acme.store.read(program_settings.list_programs, workspace_ids=reach, paging=Paging(50, invented))
    assert [program.id for program in programs.data] == [acme.program_id]
