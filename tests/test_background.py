"""What runs in the background: housekeeping in chunks and in turns, and the fraud review."""

import asyncio
from datetime import datetime, timedelta

import pytest
from anyio.lowlevel import checkpoint
from sqlalchemy import select, update

import background
import storage
from cli.demo import sample
from storage import Storage
from storage.engine import recurring
from storage.lists.declaration import ListQuery, ListScope
from storage.lists.find import find
from storage.lists.flags import FLAGS
from storage.lists.payables import PAYABLES
from storage.management import fraud_review
from storage.rules import contact
from storage.rules.errors import CustomerNotFound
from storage.rules.fraud.flag import FlagKind
from storage.tables import audit_entries, partners, recurring_tasks, refused_calls
from storage.tables import flags as stored_flags
from tests.world import NOW, SEALER, World, stored

LATER = NOW + timedelta(days=31)
EMAIL = "anna@partners.example"
embedded = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)  # storage's tests show what is found


async def test_a_large_backlog_is_deleted_in_chunks(acme: World, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(recurring, "ROWS_AT_ONCE", 2)
    for _ in range(7):
        await acme.reject(CustomerNotFound())
    await acme.reject(CustomerNotFound(), at=LATER)

    assert await acme.store.write(recurring.prune, refused_calls, at=LATER) == 2
    await background.keep_house(acme.store, at=LATER)

    assert await stored(acme, refused_calls.c.at) == [(LATER,)]


async def test_a_block_beside_a_task_ends_when_it_is_cancelled_at_any_moment():
    async def endless() -> None:
        await asyncio.Event().wait()

    async def go_on() -> None:
        async with background.beside(endless()):
            await checkpoint()
        await endless()

    for steps in range(8):
        going = asyncio.create_task(go_on())
        for _ in range(steps):
            await checkpoint()
        going.cancel()

        assert await asyncio.wait([going], timeout=5) == ({going}, set()), steps


async def test_one_process_at_a_time_groups_events(store: Storage, database_url: str, monkeypatch: pytest.MonkeyPatch):
    grouped: list[Storage] = []

    async def note(by: Storage) -> None:
        grouped.append(by)

    monkeypatch.setattr(background, "group_all", note)
    async with storage.opened(database_url) as other:
        for seconds, process in ((0, store), (5, other), (19, store), (21, other), (22, store)):
            await background.group_in_turn(process, at=NOW + timedelta(seconds=seconds))

    assert grouped == [store, other]


async def test_a_running_task_keeps_its_turn(store: Storage):
    every, begun = timedelta(milliseconds=2), select(recurring_tasks.c.started_at)

    async with background.turn(store, "grouping", every=every, at=NOW):
        while await store.read(lambda connection: connection.execute(begun).scalar_one()) == NOW:
            pass


async def own_purchase(acme: World) -> None:
    mine = update(partners).where(partners.c.id == acme.anna).values(email=EMAIL)
    await acme.store.write(lambda connection: connection.execute(mine).rowcount)
    await acme.lead(await acme.visitor(), "user-1", contact=contact.protect(EMAIL))
    await acme.sale()


async def review(acme: World, *, is_whole: bool) -> list[FlagKind]:
    await background.review_all(acme.store, since=NOW - timedelta(minutes=1), at=NOW, is_whole=is_whole)
    return [each.kind for each in (await acme.listed(FLAGS)).data]


@embedded
@pytest.mark.parametrize("is_news", [True, False])
async def test_a_sale_is_reviewed_once_by_the_next_round_or_the_whole_review(acme: World, *, is_news: bool):
    await own_purchase(acme)
    if not is_news:
        acme.store.take_written()

    assert await review(acme, is_whole=False) == [FlagKind.SELF_REFERRAL] * is_news
    acme.store.take_written()
    assert await review(acme, is_whole=not is_news) == [FlagKind.SELF_REFERRAL]


@embedded
async def test_a_failing_review_is_logged_and_raises_nothing(acme: World, caplog: pytest.LogCaptureFixture):
    await acme.store.write_in(acme.program_id, lambda connection: connection.execute(stored_flags.delete()).rowcount)
    await acme.store.write(stored_flags.drop)
    await own_purchase(acme)

    await background.review_all(acme.store, since=NOW, at=NOW, is_whole=True)

    assert "the fraud review failed" in caplog.text


async def test_ninety_days_of_a_healthy_sample_raise_no_other_flag_and_show_why_partners_are_not_paid(sqlite_url: str):
    async with storage.opened(sqlite_url, patient=True) as store:
        await store.write(sample.create, password_hash="not a hash", sealer=SEALER, at=NOW)

        for days in range(0, 90, 10):
            assert await _found(store, NOW - timedelta(days=days)) == []
        due = await store.read(find, PAYABLES, ListScope(1, NOW), ListQuery())
        reasons = {each.reason for each in due.data}
        assert reasons >= {None, "held", "owes_back", "needs_method", "method_on_hold"}


async def _found(store: Storage, at: datetime) -> list[object]:
    since = at - timedelta(days=91)
    programs = await store.read(fraud_review.active_programs, since=since)
    found = [await store.read(fraud_review.whole, each, since=since, at=at) for each in programs]
    logged = await store.read(lambda connection: connection.execute(select(audit_entries.c.action)).scalars().all())
    assert logged.count("flag.raise") == 2  # the sample's own, one in each program
    return [each for of_program in found for each in of_program]
