"""One payment that is reported in parts, or by the API as well: each cent counts once, or waits for a decision."""

from datetime import timedelta

import pytest

from storage.engine.audit import OPERATOR
from storage.lists.flags import FLAGS
from storage.lists.payment_events import PAYMENT_EVENTS
from storage.management import flag_decisions
from storage.management.commission_decisions import decide_each, get_pending_work
from storage.payments import decisions, reconciliation
from storage.rules.commission import CommissionStatus
from storage.rules.errors import CommissionFlagged, DuplicateTransaction
from storage.rules.fraud.flag import FlagState
from storage.rules.reconciliation import Payment
from storage.tables import rollups, sales
from tests import stripe_events as stripe
from tests.storage.payments.paying import connect, listed, named, take
from tests.world import NOW, World, stored


async def late(acme: World, **after: float) -> int:
    """Record what can be recorded some time later, and return how much that was."""
    return int(await acme.store.write(decisions.record_late, acme.program_id, at=NOW + timedelta(**after)))


async def test_a_payment_intent_without_invoice_or_checkout_is_a_sale_once_it_has_settled(acme: World):
    metadata = await named(acme)
    first = await take(acme, stripe.intent(metadata=metadata))
    tried = await late(acme, minutes=9)
    settled = await late(acme, minutes=10)
    of_charge = await take(acme, stripe.intent(kind="charge", metadata=metadata))

    assert (first.outcome, tried, settled, of_charge.outcome) == ("settling", 0, 1, "repeated")
    assert await stored(acme, sales.c.transaction_id, sales.c.occurred_at) == [("pi_1", NOW)]


@pytest.mark.parametrize("first", ["in_1", "pi_in_1"])
async def test_a_payment_that_nothing_links_to_its_invoice_is_held_until_something_does(acme: World, first: str):
    metadata = await named(acme)
    events = [stripe.invoice(payments=None, metadata=metadata), stripe.intent("pi_in_1", metadata=metadata)]
    for event in events if first == "in_1" else reversed(events):
        await take(acme, event)
        await late(acme, minutes=11)

    held = await listed(acme, "held_as_duplicate")
    await take(acme, stripe.invoice_payment())

    assert held == ["payment_intent.succeeded" if first == "in_1" else "invoice.paid"]
    assert await stored(acme, sales.c.transaction_id) == [(first,)]
    assert (await listed(acme, "held_as_duplicate"), len(await listed(acme, "repeated"))) == ([], 1)


async def test_the_metadata_of_the_processors_customer_names_one_whose_lead_comes_later(acme: World):
    await take(acme, stripe.customer({"svc_customer_key": "user-1"}))
    await acme.customer("user-1")

    assert (await take(acme, stripe.invoice())).outcome == "recorded"


async def test_returned_money_stops_waiting_for_a_payment_that_no_one_reports_but_still_finds_it(acme: World):
    await take(acme, stripe.charge_refunded(total=2_500))
    counts = [await late(acme, days=6), await late(acme, days=7)]
    ended = await listed(acme, "not_referred")
    await take(acme, stripe.checkout(metadata=await named(acme)))

    assert (counts, ended) == ([0, 1], ["charge.refunded"])
    assert await stored(acme, sales.c.refunded_cents) == [(2_500,)]


USER = {"svc_customer_key": "user-1"}


async def outcome_and_findings(acme: World) -> tuple[str, list[str]]:
    """Return what `explain` says of order-7, and what an export with the one payment finds."""
    paid = Payment(2, ("pi_1",), 10_000, 0, "USD", NOW, customer_key="user-1")
    found = await acme.store.read(reconciliation.compare, acme.program_id, [paid], at=NOW)
    explained = await acme.explain(transaction_id="order-7")
    return explained.outcome, [each.code for each in found.findings]


@pytest.mark.parametrize(
    ("state", "explained"), [(FlagState.DISMISSED, "credited"), (FlagState.CONFIRMED, "commission_rejected")]
)
async def test_a_sale_beside_a_payment_is_held_until_it_is_decided(acme: World, state: FlagState, explained: str):
    await connect(acme)
    await acme.customer()
    await take(acme, stripe.checkout(metadata=USER))

    sold = await acme.sale("order-7", at=NOW + timedelta(minutes=9))
    with pytest.raises(DuplicateTransaction, match="already recorded"):
        await acme.sale("pi_1")
    others = [await acme.sale("order-8", 9_999, at=NOW + timedelta(minutes=9))]
    others += [await acme.sale("order-9", at=NOW + timedelta(minutes=11))]
    commission_id = sold.commission_id
    [flag] = (await acme.listed(FLAGS)).data
    pending = await acme.store.read(get_pending_work, acme.program_id, at=NOW)
    undecided = await outcome_and_findings(acme)
    both, later = [commission_id, others[0].commission_id], NOW + timedelta(days=30)
    held, free = (await acme.do(decide_each, both, CommissionStatus.APPROVED, at=later)).values()
    await acme.do(flag_decisions.decide, flag.id, state, at=later)

    assert (sold.possibly_repeats, [each.possibly_repeats for each in others]) == ("pi_1", [None, None])
    assert (flag.kind, flag.commission_id, flag.evidence["payment"]) == ("possible_duplicate", commission_id, "pi_1")
    assert (pending.flags, pending.held) == (1, (1, 2_000))
    assert isinstance(held, CommissionFlagged)
    assert getattr(free, "status", None) == CommissionStatus.APPROVED
    assert undecided == ("possible_duplicate", ["doubled"])
    assert await outcome_and_findings(acme) == (explained, [])
    counted = sum(number for (number,) in await stored(acme, rollups.c.sales))
    assert counted == 4 - (state == FlagState.CONFIRMED)


async def test_a_payment_that_is_counted_beside_a_sale_of_the_api_doubles_nothing(acme: World):
    await acme.customer()
    await acme.sale("order-7")
    await take(acme, stripe.checkout(metadata=USER))
    [event] = (await acme.listed(PAYMENT_EVENTS)).data

    await acme.do(decisions.decide, event.id, decisions.Decision.COUNT)

    assert await stored(acme, sales.c.transaction_id) == [("order-7",), ("pi_1",)]
    [flag] = (await acme.listed(FLAGS)).data
    assert (flag.state, flag.decided_by) == (FlagState.DISMISSED, OPERATOR.name)
    assert await outcome_and_findings(acme) == ("credited", [])
