"""The feed of changes: every transaction's, in the order of the commits, resumable, and the sum of its pages."""

import asyncio
import json
from collections import Counter
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import Connection

import background
from storage import Storage
from storage.access import program_keys
from storage.engine import feed, recurring
from storage.engine.feed import Note
from storage.management import partners, program_settings
from storage.reports import changes
from storage.reports.changes import FeedEntry, FeedPage
from storage.rules import errors
from storage.tables import changes as feed_rows
from storage.tracking import sales
from storage.tracking.received_calls import PresentedKey
from storage.tracking.sale_decisions import Sale
from tests import world
from tests.storage.engine.test_statement_count import counted
from tests.world import BY, NOW, World

LATER = NOW + timedelta(days=401)


async def read(acme: World, cursor: str | None = None, limit: int = 200, at: datetime = NOW) -> FeedPage:
    return await acme.store.read(changes.read_changes, acme.program_id, cursor=cursor, limit=limit, at=at)


async def lose(acme: World, number: int = 0, principal: PresentedKey | None = None) -> None:
    """Report a sale that is rejected."""
    sale = Sale(f"lost-{number}", 100, NOW, customer_key="stranger")
    with suppress(errors.ServiceError):
        await acme.handle(sales.record, sale, principal, call="sale")


async def pages(acme: World, cuts: list[int]) -> list[FeedPage]:
    """Read the whole feed in pages of these sizes, the last one again and again."""
    found, cursor = [await read(acme, limit=cuts[0])], ""
    for limit in [*cuts[1:], *[cuts[-1]] * 200]:
        cursor = found[-1].cursor
        page = await read(acme, cursor, limit)
        if page.next_cursor is None:
            break
        found.append(page)
    return found


@pytest.mark.both_databases
async def test_each_transaction_is_listed_by_kind_in_the_order_of_the_commits_with_what_needs_an_action(acme: World):
    start = (await read(acme)).cursor
    await acme.customer()
    await acme.sale()
    await acme.refund(amount_cents=4_000)
    await lose(acme)
    await acme.change(commission_rate=30)
    await acme.do(program_keys.regenerate)
    await acme.flag()

    page = await read(acme, start)

    assert [(each.kind, each.label, each.number, each.cents) for each in page.data] == [
        ("lead.record", "settled", 1, 0),
        ("sale.record", None, 1, 10_000),
        ("refund.record", None, 1, 4_000),
        ("sale.reject", "customer_not_found", 1, 0),
        ("program.change", None, 1, 0),
        ("program_key.regenerate", None, 1, 0),
        ("flag.raise", None, 1, 0),
    ]
    assert [each.seq for each in page.data] == list(range(page.data[0].seq, page.data[0].seq + 7))
    assert (await read(acme, page.cursor)).next_cursor is None
    assert [each.kind for each in page.summary.needs_action] == ["flag.raise"]
    for number in range(2):
        await lose(acme, number, acme.principal)
    said = [each.message for each in (await read(acme, page.cursor)).summary.needs_action]
    assert [each.partition(": ")[0] for each in said] == ["2 sales rejected since 2026-05-20 12:00 UTC"]
    assert "a server still uses the old key." in said[0]


@pytest.mark.both_databases
async def test_a_click_a_dry_run_a_rejected_change_and_what_deletes_a_program_are_not_in_it(acme: World):
    before = (await read(acme)).cursor
    await acme.click()
    about: dict[str, Any] = {"name": "Cleo", "code": "cleo", "email": None, "by": BY}
    await acme.store.dry_run.write(partners.enrol, acme.program_id, **about)
    for _ in range(2):
        with suppress(errors.ValidationError):
            await acme.store.write(partners.enrol, acme.program_id, **about | {"code": "anna"})

    assert (await read(acme, before)).data == []
    gone = await acme.beside()
    known = [each.seq for each in (await read(gone)).data]
    await gone.do(program_settings.delete_program)
    assert [each.seq for each in await gone.rows(feed_rows)] == known


@pytest.mark.both_databases
@given(
    steps=st.lists(st.sampled_from(["sale", "lead", "refund", "lost", "rate", "flag"]), max_size=8),
    cuts=st.lists(st.integers(1, 5), min_size=1, max_size=5),
)
async def test_the_summaries_of_any_cut_add_up_to_a_full_read(store: Storage, steps: list[str], cuts: list[int]):
    acme = await world.acme(store)
    await acme.customer()
    for number, step in enumerate(steps):
        with suppress(errors.ServiceError):
            if step == "sale":
                await acme.sale(f"inv-{number}", 100 + number)
            elif step == "lost":
                await lose(acme, number)
            elif step == "lead":
                await acme.customer(f"customer-{number}")
            elif step == "refund":
                await acme.refund(f"inv-{number - 1}")
            elif step == "rate":
                await acme.change(commission_rate=number + 1)
            else:
                await acme.flag()

    whole, parts = await read(acme), await pages(acme, cuts)

    assert [each for page in parts for each in page.data] == whole.data
    for field in ("number", "cents"):
        sums = Counter[Any]()
        for page in parts:
            for total in page.summary.totals:
                sums[total.kind, total.label] += getattr(total, field)
        assert sums == Counter({(each.kind, each.label): getattr(each, field) for each in whole.summary.totals})


async def test_a_page_ends_before_its_summary_is_longer_than_24_kb(acme: World):
    def work(connection: Connection, number: int) -> None:
        feed.note(connection, [Note(acme.program_id, f"{n:030}.note", NOW, label="x" * 64) for n in range(number)])

    await acme.store.write(work, 150)

    whole = await pages(acme, [200])

    totals = [[total._asdict() for total in page.summary.totals] for page in whole]
    sizes = [len(json.dumps(each, default=str)) for each in totals]
    followed = [each.seq for page in whole for each in page.data]
    assert followed == list(range(followed[0], followed[0] + len(followed)))
    assert len(followed) >= 150
    assert max(sizes) < changes.MOST_BYTES


async def follow(acme: World, cursor: str, is_done: asyncio.Event) -> list[FeedEntry]:
    """Read page by page what follows a cursor until nothing comes any more."""
    followed: list[FeedEntry] = []
    while True:
        was_done = is_done.is_set()
        page = await read(acme, cursor, limit=7)
        followed.extend(page.data)
        cursor = page.cursor
        if was_done and not page.data:
            return followed


@pytest.mark.both_databases
async def test_nothing_is_skipped_under_two_workers_with_rolled_back_transactions_between(
    acme: World, elsewhere: World
):
    def work(connection: Connection, kind: str, number: int) -> None:
        feed.note(connection, [Note(acme.program_id, kind, NOW, number)])
        if number % 3 == 0:
            raise errors.ValidationError

    async def write(store: Storage, kind: str) -> None:
        for number in range(30):
            with suppress(errors.ValidationError):
                await store.write(work, kind, number)

    is_done = asyncio.Event()
    reader = asyncio.create_task(follow(acme, (await read(acme)).cursor, is_done))
    await asyncio.gather(write(acme.store, "one.note"), write(elsewhere.store, "two.note"))
    is_done.set()
    followed = await reader

    assert [each.seq for each in followed] == list(range(followed[0].seq, followed[0].seq + len(followed)))
    for kind in ("one.note", "two.note"):
        ids = [int(found) for each in followed if each.kind == kind for found in each.ids]
        assert ids == [number for number in range(30) if number % 3]


@pytest.mark.both_databases
async def test_a_cursor_that_is_too_old_or_of_another_program_or_feed_is_answered_clearly(acme: World):
    first = await read(acme, limit=1)
    await acme.change(commission_rate=25)
    await acme.change(commission_rate=30, at=LATER)
    await background.keep_house(acme.store, at=LATER)

    with pytest.raises(errors.CursorExpired):
        await read(acme, first.cursor, at=LATER)
    newest = await read(acme, at=LATER)
    assert [each.kind for each in newest.data] == ["program.change"]
    assert (await read(acme, newest.cursor, at=LATER)).data == []
    with pytest.raises(errors.CursorExpired):
        await read(await acme.beside(), newest.cursor, at=LATER)
    with pytest.raises(errors.ValidationError):
        await read(acme, "nonsense")
    assert recurring.CHANGE_DAYS == 400


@pytest.mark.both_databases
async def test_the_feed_costs_two_statements_whatever_the_transaction_changes(acme: World):
    def statements(connection: Connection, size: int) -> int:
        with counted(connection) as found:
            feed.save(connection, [Note(acme.program_id, f"kind.{n % 7}", NOW, n) for n in range(size)])
        return len(found)

    assert [await acme.store.write(statements, size) for size in (1, 32, 256)] == [2, 2, 2]
