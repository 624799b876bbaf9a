"""Decisions on commissions and flags: reviewed in the same transaction, on hold until decided, once, and undone."""

from datetime import timedelta
from functools import partial
from operator import attrgetter
from typing import Any

import pytest

from storage import tables
from storage.engine.audit import AGENT_KEY, Actor, By
from storage.engine.group_commit import COMMIT_SECONDS
from storage.lists.audit_log import AUDIT_LOG
from storage.lists.commissions import COMMISSIONS
from storage.lists.flags import FLAGS, Flag
from storage.management import commission_decisions, flag_decisions, fraud_review, partners
from storage.management.commission_decisions import Waiting
from storage.rules import contact, errors
from storage.rules.commission import CommissionStatus
from storage.rules.fraud.flag import Finding, FlagKind, FlagState
from storage.tracking import flagging
from tests.storage.management.paying import draft, pay_by
from tests.storage.management.reviewed import ANNA, HOUR, JANE, buyer, decide, earned, listed, review
from tests.world import NOW, OLGA, World, stored

LATER = NOW + timedelta(days=60)
MAX = Actor("user", "8", "max@acme.example")


@pytest.mark.both_databases
async def test_a_decision_reviews_in_its_own_transaction_and_keeps_the_flag_that_refuses_it(acme: World):
    def transactions() -> float:
        (metric,) = COMMIT_SECONDS.collect()
        return sum(each.value for each in metric.samples if each.name.endswith("_count"))

    money = (tables.commissions, tables.ledger_entries, tables.partner_rollups)
    anna = "anna@partners.example"
    await acme.do(partners.change, acme.anna, {"email": anna})
    await acme.lead(await acme.visitor(), "user-1", contact=contact.protect(anna))
    await acme.customer("user-2")
    own, ordinary = await acme.sale("inv-1"), await acme.sale("inv-2", customer_key="user-2")
    before, earlier = [await stored(acme, *table.c) for table in money], transactions()

    with pytest.raises(errors.CommissionFlagged):
        await acme.decide("approved", own.commission_id)

    assert [await stored(acme, *table.c) for table in money] == before
    (flag,) = (await acme.listed(FLAGS)).data
    assert (flag.kind, flag.commission_id) == (FlagKind.SELF_REFERRAL, own.commission_id)
    assert (await acme.listed(AUDIT_LOG)).data[0].action == "flag.raise"
    assert (await acme.decide("approved", ordinary.commission_id)).status == CommissionStatus.APPROVED
    assert transactions() == earlier + 2


async def test_an_approved_commission_that_is_flagged_later_is_not_paid_and_a_paid_one_is_not_touched(acme: World):
    await acme.customer()
    paid, approved = [(await acme.sale(f"inv-{number}")).commission_id for number in range(2)]
    await acme.decide("approved", paid, approved)
    await acme.decide("paid", paid)
    [(customer_id, *_)] = await stored(acme, tables.customers.c.id)
    with pytest.raises(errors.OwnerRequired):
        await acme.decide("paid", approved, actor=OLGA._replace(may_pay=False))
    flag_id = await acme.flag(customer_id)

    with pytest.raises(errors.CommissionFlagged):
        await acme.decide("paid", approved)
    await acme.do(flag_decisions.decide, flag_id, FlagState.CONFIRMED, at=LATER)

    assert [status for (status,) in await stored(acme, tables.commissions.c.status)] == ["paid", "rejected"]


async def test_what_was_approved_together_is_pending_again_unless_it_was_paid(acme: World):
    """An approval can be undone for an hour, by the member who made it."""
    await acme.customer()
    for n in range(3):
        await acme.sale(f"inv-{n}")
    ids = [each.id for each in (await acme.listed(COMMISSIONS)).data]
    later = LATER + timedelta(milliseconds=1)
    for some, status, at in ((ids[:2], "approved", LATER), (ids[2:], "approved", later), (ids[:1], "paid", LATER)):
        await acme.do(commission_decisions.decide_each, some, CommissionStatus(status), by=By(OLGA, at))
    undo = partial(acme.do, commission_decisions.undo_approvals)
    millis = commission_decisions.millis_of(LATER)

    undone = [await undo(millis=millis, by=By(each, LATER)) for each in (MAX, OLGA, OLGA)]

    after = {each.id: each.status for each in (await acme.listed(COMMISSIONS)).data}
    assert undone == [0, 1, 0]
    assert [after[each] for each in ids] == ["paid", "pending", "approved"]
    newest = (await acme.listed(AUDIT_LOG)).data[0]
    assert (newest.action, newest.before, newest.after) == ("commission.decide", "approved", "pending")
    with pytest.raises(errors.ValidationError):
        await undo(millis=millis, by=By(OLGA, LATER + timedelta(hours=2)))


async def test_an_owner_alone_overrides_the_hold_with_a_reason(acme: World):
    await acme.customer()
    sold = await acme.sale()
    approve = partial(acme.decide, "approved", sold.commission_id)
    reason: Any = {"override_hold_reason": "A partner of ten years", "at": NOW + timedelta(days=1)}

    with pytest.raises(errors.CommissionOnHold):
        await approve(actor=Actor(AGENT_KEY, "3", "Nightly job"), **reason)
    approved = await approve(actor=OLGA, **reason)

    assert approved.status == CommissionStatus.APPROVED
    newest = (await acme.listed(AUDIT_LOG)).data[0]
    assert (newest.field, newest.after) == ("override_hold_reason", "A partner of ten years")


async def own_purchase(shop: World) -> Flag:
    await buyer(shop, 1, known=ANNA)
    return (await review(shop))[0]


async def test_a_flag_holds_the_commission_until_it_is_dismissed_and_is_decided_once(shop: World):
    flag = await own_purchase(shop)
    (commission,) = await earned(shop)
    assert (flag.kind, flag.state, flag.evidence) == (FlagKind.SELF_REFERRAL, FlagState.OPEN, {"same": "email"})
    assert (flag.partner_id, flag.customer_key, flag.commission_id) == (shop.anna, "user-1", commission.id)
    with pytest.raises(errors.CommissionFlagged) as rejected:
        await shop.decide("approved", flag.commission_id)
    assert rejected.value.details == {"flags": ["self_referral"]}

    dismissed = await decide(shop, flag, FlagState.DISMISSED, "She may.")

    assert (dismissed.decided_by, dismissed.decision_reason) == (OLGA.name, "She may.")
    assert (await shop.decide("approved", flag.commission_id)).status == CommissionStatus.APPROVED
    assert await review(shop) == [dismissed]
    assert (await decide(shop, flag, FlagState.DISMISSED)).state == FlagState.DISMISSED
    for state in (FlagState.CONFIRMED, FlagState.OPEN):
        with pytest.raises(errors.ValidationError):
            await decide(shop, flag, state)


async def test_confirming_rejects_what_is_not_paid_holds_later_sales_and_is_in_the_audit_log(shop: World):
    flag = await own_purchase(shop)
    await shop.sale("inv-9", customer_key="user-1", at=NOW + 30 * HOUR)

    async def held() -> Waiting:
        found = await shop.row(FLAGS, flag.id)
        return Waiting(found.commissions, found.held_cents)

    assert await held() == Waiting(2, sum(each.net_cents for each in await earned(shop)))

    await buyer(shop, 2)
    await decide(shop, flag, FlagState.CONFIRMED, "Her own account.")
    assert await held() == Waiting()
    later = await shop.sale("inv-10", customer_key="user-1", at=NOW + 40 * HOUR)

    after = sorted(f"{each.customer_key} {each.status}" for each in await earned(shop))
    assert after == ["user-1 pending", "user-1 rejected", "user-1 rejected", "user-2 pending"]
    cents = sum(cents for (cents,) in await stored(shop, tables.ledger_entries.c.amount_cents))
    assert cents == later.commission_cents * 2  # the other customer's, too
    with pytest.raises(errors.CommissionFlagged):
        await shop.decide("approved", later.commission_id)
    entries = (await shop.listed(AUDIT_LOG)).data
    decided = [("flag", "state", "confirmed"), ("flag", "reason", "Her own account.")]
    decided += [("commission", "status", "rejected"), ("commission", "flag", f"{flag.id} self_referral")] * 2
    logged = [(entry.actor.type, entry.action, entry.field, entry.after) for entry in reversed(entries)]
    assert logged[-7] == ("service", "flag.raise", "kind", "self_referral")
    assert logged[-6:] == [("user", f"{what}.decide", field, after) for what, field, after in decided]


async def test_a_flag_on_a_partner_holds_what_was_earned_since_then_unless_clicks_alone_show_it(shop: World):
    await buyer(shop, 1, clicked=NOW - timedelta(days=60))
    await buyer(shop, 2, clicked=NOW - 23 * HOUR)
    kinds = (FlagKind.UNUSUAL_REFUND_RATE, FlagKind.UNUSUAL_CONVERSION_RATE)
    found = [Finding(kind, "partner", shop.anna, NOW - 24 * HOUR, {}) for kind in kinds]
    await shop.store.write(flagging.raise_each, [(shop.program_id, each) for each in found], at=NOW)
    assert [list(each.flags) for each in await earned(shop)] == [[FlagKind.UNUSUAL_REFUND_RATE], []]

    for flag in sorted(await listed(shop), key=attrgetter("kind")):
        assert {each.status for each in await earned(shop)} == {CommissionStatus.PENDING}
        await decide(shop, flag, FlagState.CONFIRMED)
    assert [each.status for each in await earned(shop)] == [CommissionStatus.REJECTED, CommissionStatus.PENDING]


@pytest.mark.both_databases
async def test_a_draft_reviews_every_customer_and_leaves_out_what_it_flags(
    acme: World, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(fraud_review, "CUSTOMERS_AT_ONCE", 1)
    await pay_by(acme, acme.anna)
    for number, known in enumerate((ANNA, JANE), 1):
        await buyer(acme, number, known=known)
    await acme.decide("approved", *(each.id for each in await earned(acme)))
    await acme.do(partners.change, acme.anna, {"email": "anna@partners.example"})

    made = await draft(acme)

    assert [flag.kind for flag in await listed(acme)] == [FlagKind.SELF_REFERRAL]
    assert (made.partners, made.commissions) == (1, 1)
