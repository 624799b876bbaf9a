"""A sale of the API beside a payment of the same customer and amount: a second purchase, or the same one."""

from datetime import timedelta
from typing import Any

import pytest

from storage.checks import books
from storage.engine.audit import OPERATOR
from storage.lists.commissions import COMMISSIONS
from storage.lists.declaration import ListScope
from storage.lists.find import rows
from storage.lists.flags import FLAGS
from storage.management import commission_decisions, flag_decisions
from storage.rules.commission import CommissionStatus
from storage.rules.errors import CommissionFlagged, DuplicateTransaction
from storage.rules.fraud.flag import FlagKind, FlagState
from storage.tables import sales
from tests import stripe_events as stripe
from tests.storage.payments.paying import connect, take
from tests.world import NOW, World, stored

USER = {"svc_customer_key": "user-1"}


@pytest.mark.parametrize("state", [FlagState.DISMISSED, FlagState.CONFIRMED])
async def test_an_api_sale_that_a_payment_may_have_reported_is_recorded_and_its_commission_held_until_decided(
    acme: World, state: FlagState
):
    await connect(acme)
    await acme.customer()
    await take(acme, stripe.checkout(metadata=USER))

    sold = await acme.sale("order-7", at=NOW + timedelta(minutes=9))
    with pytest.raises(DuplicateTransaction, match="already recorded"):
        await acme.sale("pi_1")
    others = [await acme.sale("order-8", 9_999, at=NOW + timedelta(minutes=9))]
    others += [await acme.sale("order-9", at=NOW + timedelta(minutes=11))]
    commission_id = sold.commission_id or 0
    [flag] = (await acme.listed(FLAGS)).data
    later: Any = {"actor": OPERATOR, "at": NOW + timedelta(days=30)}
    approved = (acme.program_id, [commission_id, others[0].commission_id or 0], CommissionStatus.APPROVED)
    held, free = (await acme.store.write(commission_decisions.decide_each, *approved, **later)).values()
    await acme.store.write(flag_decisions.decide, acme.program_id, flag.id, state, **later)

    assert (sold.possibly_repeats, [each.possibly_repeats for each in others]) == ("pi_1", [None, None])
    assert (flag.kind, flag.commission_id) == (FlagKind.POSSIBLE_DUPLICATE, commission_id)
    assert isinstance(held, CommissionFlagged)
    assert getattr(free, "status", None) == CommissionStatus.APPROVED
    [decided] = await acme.store.read(rows, COMMISSIONS, ListScope(acme.program_id, NOW), [commission_id])
    assert (decided.status == CommissionStatus.REJECTED) == (state == FlagState.CONFIRMED)
    assert len(await stored(acme, sales.c.id)) == 4
    assert await acme.store.read(books.run) == []
