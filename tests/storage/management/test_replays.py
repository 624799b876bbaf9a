"""Rejected calls performed after all, once and as of their own day; those with a replaced key wait for an owner."""

from contextlib import suppress
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import background
from storage import Storage
from storage.checks import books
from storage.engine import recurring
from storage.engine.audit import AGENT_KEY, OPERATOR, Actor, By
from storage.lists.audit_log import AUDIT_LOG
from storage.management import agent_caps, replays
from storage.management.replays import ReplayOutcome
from storage.rules import errors, keys
from storage.tables import commissions, kept_calls, refused_calls, sales
from storage.tracking.received_calls import PresentedKey
from tests import world
from tests.storage.management.replaying import LATER, lose_sale, replay
from tests.world import NOW, SEALER, World


@pytest.mark.both_databases
async def test_a_sale_is_replayed_once_as_of_its_own_day(acme: World):
    rejected = await lose_sale(acme)
    await acme.change(commission_rate=50, at=NOW + timedelta(days=1))
    await acme.customer(at=NOW - timedelta(hours=1))

    first, second = await replay(acme, rejected), await replay(acme, rejected)

    assert [first.calls[0].outcome, second.calls[0].outcome] == [ReplayOutcome.PERFORMED, ReplayOutcome.BEFORE]
    [sale], [earned] = await acme.rows(sales), await acme.rows(commissions)
    assert (sale.occurred_at, sale.at) == (NOW, LATER)
    assert (earned.amount_cents, earned.hold_until) == (2_000, NOW + timedelta(days=15))


async def test_a_call_that_is_still_rejected_says_why_and_is_kept_encrypted_until_it_can_be_replayed(acme: World):
    rejected = await lose_sale(acme, customer_key="secret-user")

    [still] = (await replay(acme, rejected)).calls
    [kept] = await acme.rows(kept_calls)
    await acme.customer("secret-user")
    [done] = (await replay(acme, rejected)).calls

    assert (still.outcome, still.code) == (ReplayOutcome.REJECTED, "customer_not_found")
    assert "secret-user" not in kept.sealed
    assert (done.outcome, (await acme.rows(kept_calls))[0].sealed) == (ReplayOutcome.PERFORMED, None)


async def test_a_cause_is_replayed_in_steps_until_every_call_was_tried(acme: World, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(replays, "MOST_AT_ONCE", 2)
    for number in range(3):
        await lose_sale(acme, f"inv-{number}", customer_key=f"user-{number}")
    await acme.customer("user-2")

    steps = [await replay(acme, cause="customer_not_found") for _ in range(2)]

    assert [(each.performed, each.still_rejected, each.remaining) for each in steps] == [(0, 2, 1), (1, 1, 0)]


async def test_what_cannot_be_replayed_is_named_and_a_key_that_no_program_had_leaves_nothing(acme: World):
    await acme.customer()
    await acme.sale()
    with pytest.raises(errors.DuplicateTransaction):
        await acme.sale()
    await acme.reject(errors.ValidationError())
    with pytest.raises(errors.InvalidKey):
        await acme.sale(principal=PresentedKey(keys.digest("aff_1_guess"), acme.program_id))
    ids = [row.id for row in await acme.rows(refused_calls)]

    done = await replay(acme, *ids, 7)

    assert {each.outcome for each in done.calls} == {ReplayOutcome.NOT_KEPT}
    assert await acme.rows(kept_calls) == []


async def test_agent_keys_replay_no_more_in_a_day_than_the_owner_allows(acme: World):
    rejected = await lose_sale(acme)
    await acme.customer()
    await acme.do(agent_caps.change, {"replayed_calls_in_a_day": 0})
    agent = Actor(AGENT_KEY, "1", "Reporter")

    with pytest.raises(errors.OverCap) as over:
        await replay(acme, rejected, actor=agent)
    await acme.do(agent_caps.change, {"replayed_calls_in_a_day": 1})
    done = await replay(acme, rejected, actor=agent)

    assert (over.value.details, done.performed) == ({"cap": "replayed_calls_in_a_day"}, 1)
    [entry] = (await acme.listed(AUDIT_LOG, action="rejected_call.replay")).data
    assert entry.actor_name == "Reporter"


@pytest.mark.both_databases
async def test_kept_calls_go_with_the_log_and_the_oldest_of_too_many(acme: World, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(recurring, "MOST_KEPT", 2)
    for number in range(3):
        await lose_sale(acme, f"inv-{number}")
    other = await acme.beside()
    await lose_sale(other)
    await background.keep_house(acme.store, at=NOW)
    newest = [row.id for row in await acme.rows(refused_calls)][1:]

    assert sorted(row.id for row in await acme.rows(kept_calls)) == sorted(newest)
    assert len(await other.rows(kept_calls)) == 1
    await background.keep_house(acme.store, at=NOW + timedelta(days=31))
    assert await acme.rows(kept_calls) == []


@given(steps=st.lists(st.sampled_from(["lose", "replay", "cause", "resend", "dry"]), min_size=2, max_size=8))
async def test_no_sale_counts_twice_whoever_sends_it_again(store: Storage, steps: list[str]):
    acme = await world.acme(store)
    rejected = [await lose_sale(acme)]
    await acme.customer()
    for step in steps:
        with suppress(errors.DuplicateTransaction):
            if step == "replay":
                await replay(acme, *rejected)
            elif step == "cause":
                await replay(acme, cause=replays.ANY)
            elif step == "dry":
                about: dict[str, Any] = {"cause": replays.ANY, "sealer": SEALER, "by": By(OPERATOR, LATER)}
                await store.dry_run.write(replays.replay, acme.program_id, **about)
            elif step == "resend":
                await acme.sale()

    counted = await acme.rows(sales)
    assert len(counted) == int(bool({"replay", "cause", "resend"} & set(steps)))
    assert await store.read(books.run) == []
