"""Calls with a replaced key: they wait for an owner, who accepts or discards them; a leaked key's are all discarded."""

from datetime import datetime, timedelta
from typing import Any

import pytest

from storage.access import program_keys
from storage.diagnosis import key_rotation
from storage.diagnosis.key_rotation import KeyRotation, RotationState
from storage.management import replays
from storage.management.replays import OldKeyDecision, Replay, ReplayOutcome
from storage.rules import errors, keys
from storage.tables import kept_calls, leads, refunds, sales
from storage.tracking import leads as tracked_leads
from storage.tracking import refunds as tracked_refunds
from storage.tracking import sales as tracked_sales
from storage.tracking.leads import Lead
from storage.tracking.received_calls import PresentedKey
from storage.tracking.refunds import Refund
from storage.tracking.sale_decisions import Sale
from tests.storage.management.replaying import LATER, replay
from tests.world import NOW, SEALER, World

SHOP: dict[str, Any] = {"user_agent": "acme-shop/1.2", "network_hash": "ab12"}
LEAKED, ACCEPT, DISCARD = OldKeyDecision.LEAKED, OldKeyDecision.ACCEPT, OldKeyDecision.DISCARD


async def decide(acme: World, decision: OldKeyDecision, **about: Any) -> Replay:
    about = {"decision": decision, "at": LATER, **about}
    result: Replay = await acme.do(replays.decide_old_key, sealer=SEALER, **about)
    return result


async def rotate(acme: World, *, at: datetime = NOW) -> PresentedKey:
    """Show the program's first key, replace it, and return the replaced one."""
    await acme.do(program_keys.regenerate, at=at - timedelta(days=9))
    first = await acme.do(program_keys.regenerate, at=at - timedelta(days=8))
    await acme.do(program_keys.regenerate, at=at)
    return PresentedKey(keys.digest(first.api_token), acme.program_id, **SHOP)


async def rotation(acme: World, at: datetime = LATER) -> KeyRotation:
    return await acme.store.read(key_rotation.check_rotation, acme.program_id, at=at)


async def test_leads_come_before_sales_before_refunds_whatever_the_order_of_the_calls(acme: World):
    click_id = await acme.visitor()
    old = await rotate(acme)
    for call in (
        acme.handle(tracked_refunds.record, Refund("inv-1", NOW, 4_000), old),
        acme.sale(principal=old),
        acme.handle(tracked_leads.record, Lead(click_id, "user-1", NOW), old),
    ):
        with pytest.raises(errors.InvalidKey):
            await call

    done = await decide(acme, ACCEPT)

    assert (done.performed, done.still_rejected, done.remaining) == (3, 0, 0)
    [lead], [sale], [refund] = [await acme.rows(each) for each in (leads, sales, refunds)]
    assert (lead.at, sale.refunded_cents, refund.at) == (NOW, 4_000, NOW)


@pytest.mark.both_databases
async def test_calls_with_the_replaced_key_wait_for_their_owner_by_caller(acme: World):
    await acme.customer()
    old = await rotate(acme)
    for number, user_agent in enumerate(("acme-shop/1.2", "acme-shop/1.2", "curl/8")):
        with pytest.raises(errors.InvalidKey):
            await acme.sale(f"inv-{number}", principal=old._replace(user_agent=user_agent))
    waiting = await rotation(acme)
    ids = [row.id for row in await acme.rows(kept_calls)]

    untouched = await replay(acme, *ids)
    shop = next(each.caller for each in waiting.waiting_callers if each.calls == 2)
    accepted = await decide(acme, ACCEPT, caller=shop)
    discarded = await decide(acme, DISCARD)

    assert (waiting.state, waiting.waiting_calls, waiting.old_key_last_seen_at) == (RotationState.UNDER_WAY, 3, NOW)
    assert {each.outcome for each in untouched.calls} == {ReplayOutcome.WAITING}
    assert (accepted.performed, discarded.discarded) == (2, 1)
    assert {row.transaction_id for row in await acme.rows(sales)} == {"inv-0", "inv-1"}
    assert (await rotation(acme)).state == RotationState.FINISHED


async def test_after_72_hours_and_after_a_leak_no_call_is_kept(acme: World):
    old = await rotate(acme)
    with pytest.raises(errors.InvalidKey):
        await acme.sale(principal=old)
    assert (await decide(acme, LEAKED)).discarded == 1
    with pytest.raises(errors.InvalidKey):
        await acme.sale("inv-2", principal=old)
    [row] = await acme.rows(kept_calls)
    assert (row.state, row.sealed, (await rotation(acme)).was_leaked) == ("discarded", None, True)

    late = await rotate(acme, at=NOW + timedelta(days=1))
    for hours in (71, 72):
        at = NOW + timedelta(days=1, hours=hours)
        with pytest.raises(errors.InvalidKey):
            await acme.handle(tracked_sales.record, Sale(f"late-{hours}", 100, at, "user-1"), late, at=at)
    assert len(await acme.rows(kept_calls)) == 2


async def test_a_rotation_is_finished_when_no_call_has_come_with_the_old_key_for_72_hours(acme: World):
    assert (await rotation(acme)).state == RotationState.NONE

    await rotate(acme)

    states = [(await rotation(acme, NOW + timedelta(hours=hours))).state for hours in (71, 72)]
    assert states == [RotationState.UNDER_WAY, RotationState.FINISHED]
