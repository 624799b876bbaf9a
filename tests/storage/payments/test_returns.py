"""Money that went back through the processor, the API or both, on both databases: taken once, in every order."""

import asyncio
from dataclasses import replace
from datetime import timedelta
from itertools import accumulate
from typing import Any, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from storage import Storage
from storage.checks import books
from storage.lists.payment_events import PAYMENT_EVENTS
from storage.payments import decisions
from storage.payments.decisions import Decision
from storage.tables import commissions, ledger_entries, rollups, sales
from tests import stripe_events as stripe
from tests import world
from tests.storage.payments.paying import named, take
from tests.world import NOW, World, stored

TOTALS = [("re_1", 500), ("re_2", 1_000)]
KINDS = ("refund.created", "refund.updated", "charge.refund.updated")


class Call(NamedTuple):
    """A refund that the shop's server reports; with the same `request_id` it is the same call again."""

    refund_id: str | None
    cents: int
    request_id: str | None = None


async def paid(acme: World) -> World:
    await take(acme, stripe.checkout(metadata=await named(acme)))
    return acme


async def report(acme: World, each: Any) -> Any:
    if isinstance(each, Call):
        return await acme.refund("pi_1", each.cents, refund_id=each.refund_id, request_id=each.request_id)
    await take(acme, each)
    return None


async def require_returned(acme: World, cents: int) -> None:
    """Assert that the sale, the ledger and the rollups have given these cents back once."""
    assert await stored(acme, sales.c.refunded_cents) == [(cents,)]
    left = [entry for (entry,) in await stored(acme, ledger_entries.c.amount_cents)]
    assert sum(left) == 2_000 - cents // 5
    assert await stored(acme, rollups.c.revenue_cents) == [(10_000 - cents,)]


async def test_a_dispute_takes_the_commission_back_and_a_won_one_restores_it(acme: World):
    await paid(acme)
    await take(acme, stripe.dispute())
    taken = await stored(acme, commissions.c.status)

    await take(acme, stripe.dispute_closed("won"))

    assert taken == [("reversed",)]
    await require_returned(acme, 0)
    assert await stored(acme, commissions.c.status) == [("pending",)]
    assert await stored(acme, rollups.c.sales, rollups.c.commission_cents) == [(1, 2_000)]
    await take(acme, stripe.charge_refunded("evt_later", total=10_000, at=NOW + timedelta(days=1)))
    await require_returned(acme, 10_000)
    assert await stored(acme, commissions.c.status) == [("reversed",)]
    assert await stored(acme, rollups.c.sales, rollups.c.commission_cents) == [(0, 0)]


@pytest.mark.parametrize("refund_id", ["re_1", "return-7", None])
async def test_a_call_about_what_the_processor_took_back_is_answered_as_a_repetition(
    acme: World, refund_id: str | None
):
    await paid(acme)
    call = Call(refund_id, 500, None if refund_id else "request-a")

    await report(acme, stripe.charge_refunded(total=500))
    await report(acme, call)
    repeated = await report(acme, call)

    await require_returned(acme, 500)
    if refund_id is None:  # the very call again, which gets its own result
        repeated = repeated._replace(replayed=True)
    assert (repeated.replayed, repeated.refunded_cents, repeated.commission_reversed_cents) == (True, 500, 100)
    assert (repeated.refunded_total_cents, repeated.remaining_cents) == (500, 9_500)


PENDING, CANCELED = (stripe.refund_updated(f"evt_{each}", amount=500, status=each) for each in ("pending", "canceled"))


async def test_only_what_was_canceled_gives_the_commission_back(acme: World):
    await paid(acme)

    assert not (await report(acme, Call("re_1", 500))).replayed
    for event, cents in ((PENDING, 500), (CANCELED, 0)):
        await report(acme, event)
        await require_returned(acme, cents)


@pytest.mark.parametrize(("decision", "outcome", "cents"), [("same", "same_sale", 800), ("count", "recorded", 1_300)])
@pytest.mark.parametrize("api_first", [True, False])
async def test_a_refund_that_may_be_a_part_of_a_larger_total_is_held_and_decided(
    acme: World, decision: str, outcome: str, cents: int, *, api_first: bool
):
    await paid(acme)
    reports = [acme.refund("pi_1", 500), take(acme, stripe.charge_refunded(total=800))]
    for each in reports if api_first else reversed(reports):
        await each
    held = await stored(acme, sales.c.refunded_cents)

    assert held == [(800,)]
    [event] = (await acme.listed(PAYMENT_EVENTS, outcome="held_as_duplicate")).data
    assert await acme.do(decisions.decide, event.id, Decision(decision)) == outcome
    assert await stored(acme, sales.c.refunded_cents) == [(cents,)]
    again = await take(acme, stripe.charge_refunded("evt_same", total=800))
    assert (again.outcome, await stored(acme, sales.c.refunded_cents)) == ("recorded", [(cents,)])


@st.composite
def reports(draw: st.DrawFn) -> tuple[int, list[Any]]:
    """Return the sum of some refunds, and their reports by both sides in any order, some of them more than once."""
    amounts = draw(st.lists(st.sampled_from([100, 500, 505, 2_000]), min_size=1, max_size=4))
    refunds = {f"re_{number}": cents for number, cents in enumerate(amounts)}
    listed = draw(st.booleans())
    each: list[Any] = []
    for count, ((name, cents), total) in enumerate(zip(refunds.items(), accumulate(amounts), strict=True), start=1):
        so_far = dict(list(refunds.items())[:count]) if listed else None
        each.append(stripe.charge_refunded(f"evt_total_{name}", total=total, refunds=so_far))
        if draw(st.booleans()):
            each.append(Call(draw(st.sampled_from([name, f"return-{name}", None])), cents, f"request-{name}"))
        if draw(st.booleans()):
            kind = draw(st.sampled_from(KINDS))
            each.append(stripe.refund_updated(f"evt_{name}", amount=cents, name=name, kind=kind))
    disputed = draw(st.sampled_from([0, 1_111]))
    if disputed:
        ended = draw(st.sampled_from(["won", "lost", None]))
        each.append(stripe.dispute(amount=disputed))
        each += [stripe.dispute_closed(ended, amount=disputed)] if ended else []
        disputed = 0 if ended == "won" else disputed
    repeated = draw(st.lists(st.sampled_from(each), max_size=4))
    return sum(amounts) + disputed, draw(st.permutations([*each, *repeated]))


@settings(max_examples=25)
@given(reported=reports())
async def test_any_order_and_any_repetition_takes_back_each_cent_once(store: Storage, reported: tuple[int, list[Any]]):
    cents, each_report = reported
    acme = await paid(await world.acme(store))

    for each in each_report:
        await report(acme, each)

    assert [each.refunded_cents for each in await acme.rows(sales)] == [cents]
    assert await store.read(books.run) == []


async def test_two_processes_that_hear_of_a_refund_at_once_take_it_back_once(acme: World, elsewhere: World):
    for _ in range(5):
        program = await paid(await acme.beside())
        reported = replace(program, store=elsewhere.store)

        await asyncio.gather(
            *(report(program, stripe.charge_refunded(f"evt_{name}", total=total)) for name, total in TOTALS),
            *(report(reported, Call(name, 500)) for name, _ in TOTALS),
        )

        assert [each.refunded_cents for each in await program.rows(sales)] == [1_000]
