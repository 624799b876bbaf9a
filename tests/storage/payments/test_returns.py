"""Money that went back through the processor, on both databases: taken once, whatever comes first."""

from datetime import timedelta

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


async def test_a_refund_reported_by_itself_and_in_a_total_counts_once_and_a_failed_one_takes_nothing(acme: World):
    await take(acme, stripe.checkout(metadata=await named(acme)))

    for number, status in enumerate(("pending", "failed")):
        name = f"re_{status}"
        await take(acme, stripe.refund_updated(f"evt_{number}", amount=2_500, name=name, status=status))
    nothing = await stored(acme, sales.c.refunded_cents)
    await take(acme, stripe.refund_updated(amount=2_500))
    await take(acme, stripe.charge_refunded(total=2_500))
    await take(acme, stripe.refund_updated("evt_refund_2", amount=1_000, name="re_2"))
    refunded = await stored(acme, sales.c.refunded_cents)
    await take(acme, stripe.dispute(amount=4_000))
    await take(acme, stripe.dispute_closed("lost", amount=4_000))

    assert (nothing, refunded) == ([(0,)], [(3_500,)])
    assert await stored(acme, sales.c.refunded_cents) == [(7_500,)]


async def test_a_dispute_takes_the_commission_back_and_a_won_one_restores_it(acme: World):
    await take(acme, stripe.checkout(metadata=await named(acme)))
    await take(acme, stripe.dispute())
    taken = await stored(acme, commissions.c.status)

    await take(acme, stripe.dispute_closed("won"))

    assert taken == [("reversed",)]
    assert await stored(acme, sales.c.refunded_cents) == [(0,)]
    assert await stored(acme, commissions.c.status) == [("pending",)]
    assert sum(cents for (cents,) in await stored(acme, ledger_entries.c.amount_cents)) == 2_000
    totals = (rollups.c.sales, rollups.c.revenue_cents, rollups.c.commission_cents)
    assert await stored(acme, *totals) == [(1, 10_000, 2_000)]
    await take(acme, stripe.charge_refunded("evt_later", total=10_000, at=NOW + timedelta(days=1)))
    assert await stored(acme, sales.c.refunded_cents) == [(10_000,)]
    assert await stored(acme, commissions.c.status) == [("reversed",)]
    assert await stored(acme, *totals) == [(0, 0, 0)]
    assert await acme.store.read(books.run) == []
