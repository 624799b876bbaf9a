"""The fraud review: it finds what was just sold, and nothing in 90 days of a healthy sample."""

from datetime import datetime, timedelta

import pytest
from sqlalchemy import select, update

import background
import storage
from cli.demo import sample
from storage import Storage
from storage.management import flags, fraud_review
from storage.rules import contact
from storage.rules.fraud.flag import FlagKind
from storage.tables import audit_entries, partners
from storage.tables import flags as stored
from tests.world import NOW, World

EMAIL = "anna@partners.example"


@pytest.fixture
def database_url(sqlite_url: str) -> str:
    """What a review finds is tested on both databases where storage is; here is when it runs."""
    return sqlite_url


async def own_purchase(acme: World) -> None:
    """Have Anna buy through her own link."""
    mine = update(partners).where(partners.c.id == acme.anna).values(email=EMAIL)
    await acme.store.write(lambda connection: connection.execute(mine).rowcount)
    await acme.lead(await acme.visitor(), "user-1", contact=contact.protect(EMAIL))
    await acme.sale()


async def review(acme: World, *, is_whole: bool) -> list[FlagKind]:
    """Review, and return what is flagged then."""
    await background.review_all(acme.store, since=NOW - timedelta(minutes=1), at=NOW, is_whole=is_whole)
    return [each.kind for each in (await acme.store.read(flags.list_flags, acme.program_id)).data]


async def test_a_sale_is_reviewed_by_the_next_round_once(acme: World):
    await own_purchase(acme)

    assert await review(acme, is_whole=False) == [FlagKind.SELF_REFERRAL]
    acme.store.take_written()
    assert await review(acme, is_whole=False) == [FlagKind.SELF_REFERRAL]


async def test_a_program_without_news_waits_for_the_whole_review(acme: World):
    await own_purchase(acme)
    acme.store.take_written()

    assert await review(acme, is_whole=False) == []
    assert await review(acme, is_whole=True) == [FlagKind.SELF_REFERRAL]


async def test_a_failing_review_is_logged_and_raises_nothing(acme: World, caplog: pytest.LogCaptureFixture):
    await acme.store.write(lambda connection: connection.execute(stored.delete()).rowcount, lane=acme.program_id)
    await acme.store.write(stored.drop)
    await own_purchase(acme)

    await background.review_all(acme.store, since=NOW, at=NOW, is_whole=True)

    assert "the fraud review failed" in caplog.text


async def test_ninety_days_of_a_healthy_sample_raise_no_flag(sqlite_url: str):
    async with storage.opened(sqlite_url) as store:
        await store.write(sample.create, password_hash="not a hash", at=NOW)

        for days in range(0, 90, 10):
            assert await _found(store, NOW - timedelta(days=days)) == []


async def _found(store: Storage, at: datetime) -> list[object]:
    since = at - timedelta(days=91)
    programs = await store.read(fraud_review.all_programs)
    found = [await store.read(fraud_review.whole, each, since=since, at=at) for each in programs]
    logged = await store.read(lambda connection: connection.execute(select(audit_entries.c.action)).scalars().all())
    assert "flag.raise" not in logged
    return [each for of_program in found for each in of_program]
