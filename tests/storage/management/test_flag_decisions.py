"""Flags hold commissions until a person has decided, once."""

from datetime import timedelta
from operator import attrgetter

import pytest

from storage import tables
from storage.lists.audit_log import AUDIT_LOG
from storage.lists.declaration import ListScope
from storage.lists.find import get
from storage.lists.flags import FLAGS
from storage.management import fraud_review
from storage.management.pending_work import Waiting
from storage.rules.commission import CommissionStatus
from storage.rules.errors import CommissionFlagged, ValidationError
from storage.rules.fraud.flag import Finding, FlagKind, FlagState
from tests.storage.management.reviewed import (
    CONFIRMED,
    HOUR,
    OWNER,
    approve,
    buyer,
    decide,
    earned,
    listed,
    own_purchase,
    review,
)
from tests.world import NOW, World, stored


async def test_a_flag_holds_the_commission_until_it_is_dismissed_and_is_decided_once(shop: World):
    flag = await own_purchase(shop)
    (commission,) = await earned(shop)
    assert (flag.kind, flag.state, flag.evidence) == (FlagKind.SELF_REFERRAL, FlagState.OPEN, {"same": "email"})
    assert (flag.partner_id, flag.customer_key, flag.commission_id) == (shop.anna, "user-1", commission.id)
    with pytest.raises(CommissionFlagged) as rejected:
        await approve(shop, flag.commission_id)
    assert rejected.value.details == {"flags": ["self_referral"]}

    dismissed = await decide(shop, flag, FlagState.DISMISSED, "She may.")

    assert (dismissed.decided_by, dismissed.decision_reason) == (OWNER.name, "She may.")
    assert (await approve(shop, flag.commission_id)).status == CommissionStatus.APPROVED
    assert await review(shop) == [dismissed]
    assert (await decide(shop, flag, FlagState.DISMISSED)).state == FlagState.DISMISSED
    for state in (FlagState.CONFIRMED, FlagState.OPEN):
        with pytest.raises(ValidationError):
            await decide(shop, flag, state)


async def test_confirming_rejects_what_is_not_paid_holds_later_sales_and_is_in_the_audit_log(shop: World):
    flag = await own_purchase(shop)
    await shop.sale("inv-9", customer_key="user-1", at=NOW + 30 * HOUR)

    async def held() -> Waiting:
        found = await shop.store.read(get, FLAGS, ListScope(shop.program_id, NOW), flag.id)
        return Waiting(found.commissions, found.held_cents)

    assert await held() == Waiting(2, sum(each.net_cents for each in await earned(shop)))

    await buyer(shop, 2)
    await decide(shop, flag, FlagState.CONFIRMED, "Her own account.")
    assert await held() == Waiting()
    later = await shop.sale("inv-10", customer_key="user-1", at=NOW + 40 * HOUR)

    assert sorted(f"{each.customer_key} {each.status}" for each in await earned(shop)) == CONFIRMED
    cents = sum(cents for (cents,) in await stored(shop, tables.ledger_entries.c.amount_cents))
    assert cents == later.commission_cents * 2  # the other customer's, too
    with pytest.raises(CommissionFlagged):
        await approve(shop, later.commission_id)
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
    await shop.store.write(fraud_review.raise_flags, shop.program_id, found, at=NOW)
    assert [list(each.flags) for each in await earned(shop)] == [[FlagKind.UNUSUAL_REFUND_RATE], []]

    for flag in sorted(await listed(shop), key=attrgetter("kind")):
        assert {each.status for each in await earned(shop)} == {CommissionStatus.PENDING}
        await decide(shop, flag, FlagState.CONFIRMED)
    assert [each.status for each in await earned(shop)] == [CommissionStatus.REJECTED, CommissionStatus.PENDING]
