"""Money that went back through the processor, on both databases: taken once, whatever comes first."""

from datetime import timedelta

import pytest

from storage.checks import books
from storage.tables import commissions, ledger_entries, rollups, sales
from tests import stripe_events as stripe
from tests.storage.payments.paying import named, take
from tests.world import NOW, World, stored


async def test_a_refund_that_arrives_before_its_sale_is_applied_with_it(acme: World):
    early = await take(acme, stripe.charge_refunded(total=2_500))

    await take(acme, stripe.checkout(metadata=await named(acme)))

    assert early.outcome == "waiting"
    assert await stored(acme, sales.c.refunded_cents) == [(2_500,)]
    assert sorted(await stored(acme, ledger_entries.c.amount_cents)) == [(-500,), (2_000,)]
    assert await acme.store.read(books.run) == []


async def test_a_refund_reported_by_itself_and_in_a_total_counts_once(acme: World):
    await take(acme, stripe.checkout(metadata=await named(acme)))

    await take(acme, stripe.refund_updated(amount=2_500))
    await take(acme, stripe.charge_refunded(total=2_500))
    await take(acme, stripe.refund_updated("evt_refund_2", amount=1_000, name="re_2"))

    assert await stored(acme, sales.c.refunded_cents) == [(3_500,)]


async def test_a_pending_or_failed_refund_takes_nothing(acme: World):
    await take(acme, stripe.checkout(metadata=await named(acme)))

    await take(acme, stripe.refund_updated(amount=2_500, status="pending"))
    await take(acme, stripe.refund_updated("evt_2", amount=2_500, name="re_2", status="failed"))

    assert await stored(acme, sales.c.refunded_cents) == [(0,)]


async def test_a_dispute_takes_the_commission_back(acme: World):
    await take(acme, stripe.checkout(metadata=await named(acme)))

    await take(acme, stripe.dispute())

    assert await stored(acme, commissions.c.status) == [("reversed",)]


@pytest.mark.parametrize("won_first", [True, False])
async def test_a_won_dispute_restores_the_commission(acme: World, won_first: bool):  # noqa: FBT001 - the cases
    await take(acme, stripe.checkout(metadata=await named(acme)))
    opened, won = stripe.dispute(amount=4_000), stripe.dispute_closed("won", amount=4_000)

    for event in (won, opened) if won_first else (opened, won):
        await take(acme, event)

    assert await stored(acme, sales.c.refunded_cents) == [(0,)]
    assert await stored(acme, commissions.c.status) == [("pending",)]
    worth = [cents for (cents,) in await stored(acme, ledger_entries.c.amount_cents)]
    assert sum(worth) == 2_000
    assert await stored(acme, rollups.c.sales, rollups.c.revenue_cents, rollups.c.commission_cents) == [
        (1, 10_000, 2_000)
    ]
    assert await acme.store.read(books.run) == []


async def test_a_sale_counts_again_after_its_full_dispute_is_won(acme: World):
    await take(acme, stripe.checkout(metadata=await named(acme)))
    await take(acme, stripe.dispute())
    await take(acme, stripe.dispute_closed("won"))

    await take(acme, stripe.charge_refunded("evt_later", total=10_000, at=NOW + timedelta(days=1)))

    assert await stored(acme, sales.c.refunded_cents) == [(10_000,)]
    assert await stored(acme, commissions.c.status) == [("reversed",)]
    assert await stored(acme, rollups.c.sales, rollups.c.commission_cents) == [(0, 0)]
    assert await acme.store.read(books.run) == []


async def test_a_lost_dispute_changes_nothing_more(acme: World):
    await take(acme, stripe.checkout(metadata=await named(acme)))
    await take(acme, stripe.dispute(amount=4_000))

    await take(acme, stripe.dispute_closed("lost", amount=4_000))

    assert await stored(acme, sales.c.refunded_cents) == [(4_000,)]
