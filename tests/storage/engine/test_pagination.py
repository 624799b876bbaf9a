"""Cursors: what they name, and that an invented one does no harm."""

from collections.abc import Callable
from typing import Any

import pytest

from storage.engine import audit, pagination
from storage.engine.pagination import LARGEST_ID, Page, Paging
from storage.management import commissions, partners, program_settings
from storage.reading import customer_timelines, events, rejected_calls
from storage.rules.errors import ValidationError
from tests.world import World

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
