"""Flags: they hold commissions until a person has decided, and everything is logged."""

from datetime import timedelta

import pytest

from storage.engine import audit, ids
from storage.management import commissions, flag_decisions, flags, fraud_review, partners
from storage.management.pending_work import Waiting
from storage.rules import contact
from storage.rules.commission import CommissionStatus
from storage.rules.errors import CommissionFlagged, NotFound, ValidationError
from storage.rules.fraud.flag import FlagKind, FlagState
from storage.tables import ledger_entries
from tests.storage.databases import both_databases
from tests.storage.management.abuse import (
    ANNA_EMAIL,
    HOUR,
    OWNER,
    approve,
    buyer,
    decide,
    listed,
    network,
    own_purchase,
    review,
)
from tests.world import NOW, World, stored


@both_databases
async def test_neither_a_second_review_nor_another_process_raises_a_flag_twice(shop: World):
    await buyer(shop, 1, known=contact.protect(ANNA_EMAIL))
    since = NOW - HOUR
    found = await shop.store.read(fraud_review.recent, shop.program_id, since=since)

    raised = [await shop.store.write(flags.raise_flags, shop.program_id, found, at=NOW) for _ in range(2)]

    assert raised == [1, 0]
    assert await shop.store.read(fraud_review.recent, shop.program_id, since=since) == []
    assert len(await review(shop)) == 1


async def test_a_flag_holds_the_commission_until_it_is_dismissed_and_is_decided_once(shop: World):
    flag = await own_purchase(shop)
    with pytest.raises(CommissionFlagged) as rejected:
        await approve(shop, flag.commission_id or 0)
    assert rejected.value.details == {"flags": ["self_referral"]}

    dismissed = await decide(shop, flag, FlagState.DISMISSED, "She may.")

    decision = (dismissed.state, dismissed.decided_by, dismissed.decision_reason)
    assert decision == (FlagState.DISMISSED, OWNER.name, "She may.")
    assert (await approve(shop, flag.commission_id or 0)).status == CommissionStatus.APPROVED
    assert await review(shop) == [dismissed]
    assert (await decide(shop, flag, FlagState.DISMISSED)).state == FlagState.DISMISSED
    for state in (FlagState.CONFIRMED, FlagState.OPEN):
        with pytest.raises(ValidationError):
            await decide(shop, flag, state)


async def test_an_approved_commission_that_is_flagged_later_is_not_paid_and_a_paid_one_is_not_touched(shop: World):
    for number in (1, 2):
        await buyer(shop, number, known=contact.protect(ANNA_EMAIL))
    paid, approved = (await shop.store.read(commissions.list_commissions, shop.program_id)).data
    for earned in (paid, approved):
        await approve(shop, earned.id)
    await approve(shop, paid.id, CommissionStatus.PAID)
    found = await review(shop)

    with pytest.raises(CommissionFlagged):
        await approve(shop, approved.id, CommissionStatus.PAID)
    for flag in found:
        await decide(shop, flag, FlagState.CONFIRMED)

    after = [await shop.store.read(commissions.get_commission, shop.program_id, each.id) for each in (paid, approved)]
    assert [each.status for each in after] == [CommissionStatus.PAID, CommissionStatus.REJECTED]


async def test_confirming_rejects_what_is_not_paid_and_holds_the_customer_s_later_sales(shop: World):
    flag = await own_purchase(shop)
    await shop.sale("inv-9", customer_key="user-1", at=NOW + 30 * HOUR)

    pending = (await shop.store.read(commissions.list_commissions, shop.program_id)).data
    held = await shop.store.read(flag_decisions.count_held, shop.program_id, flag.id)
    assert held == Waiting(2, sum(each.net_cents for each in pending))

    await decide(shop, flag, FlagState.CONFIRMED, "Her own account.")
    assert await shop.store.read(flag_decisions.count_held, shop.program_id, flag.id) == Waiting()
    later = await shop.sale("inv-10", customer_key="user-1", at=NOW + 40 * HOUR)

    statuses = [each.status for each in (await shop.store.read(commissions.list_commissions, shop.program_id)).data]
    assert statuses == ["pending", "rejected", "rejected"]
    assert sum(cents for (cents,) in await stored(shop, ledger_entries.c.amount_cents)) == later.commission_cents
    with pytest.raises(CommissionFlagged):
        await approve(shop, later.commission_id or 0)


async def test_a_flag_on_a_partner_holds_what_was_earned_since_its_period_began(shop: World):
    await buyer(shop, 1, clicked=NOW - timedelta(days=60))
    await buyer(shop, 2, clicked=NOW - 23 * HOUR)
    for _ in range(101):
        await shop.click(details=network("flood"))
    (flag,) = await review(shop)
    new, old = (await shop.store.read(commissions.list_commissions, shop.program_id)).data

    held = await shop.store.read(flags.holding, shop.program_id, [new, old])
    await decide(shop, flag, FlagState.CONFIRMED)

    assert held == {new.id: [FlagKind.CLICK_FLOODING]}
    assert (new.flags, old.flags) == ([FlagKind.CLICK_FLOODING], ())
    states = [each.status for each in (await shop.store.read(commissions.list_commissions, shop.program_id)).data]
    assert states == [CommissionStatus.REJECTED, CommissionStatus.PENDING]


async def test_everything_is_in_the_audit_log(shop: World):
    flag = await own_purchase(shop)
    await decide(shop, flag, FlagState.CONFIRMED, "Her own account.")

    entries = (await shop.store.read(audit.list_entries, shop.program_id)).data
    logged = [(entry.actor.type, entry.action, entry.field, entry.after) for entry in reversed(entries)][-5:]
    assert logged == [
        ("service", "flag.raise", "kind", "self_referral"),
        ("user", "flag.decide", "state", "confirmed"),
        ("user", "flag.decide", "reason", "Her own account."),
        ("user", "commission.decide", "status", "rejected"),
        ("user", "commission.decide", "flag", f"{flag.id} self_referral"),
    ]


async def test_the_list_filters_by_program_state_and_partner(shop: World):
    flag = await own_purchase(shop)

    assert await listed(shop, state=FlagState.OPEN, partner_id=shop.anna) == [flag]
    assert await listed(shop, state=FlagState.DISMISSED) == []
    assert await listed(shop, partner_id=shop.ben) == []
    with pytest.raises(NotFound):
        await shop.store.read(flags.get_flag, shop.program_id + 1, flag.id)
    shown = (await shop.store.read(partners.list_partners, shop.program_id)).data
    counts = {each.id: each.open_flags for each in shown}
    assert counts == {shop.anna: 1, shop.ben: 0}


async def test_what_was_just_reported_is_reviewed_before_a_decision(shop: World):
    await buyer(shop, 1, known=contact.protect(ANNA_EMAIL))
    (earned,) = (await shop.store.read(commissions.list_commissions, shop.program_id)).data

    found = await shop.store.read(fraud_review.before_decision, shop.program_id, [earned.id])

    assert [each.kind for each in found] == [FlagKind.SELF_REFERRAL]
    assert await shop.store.read(fraud_review.before_decision, shop.program_id, [ids.first(NOW)]) == []
