"""One partner's results, refunds, holds and filtered lists."""

from datetime import date, datetime, timedelta

from storage.management import balances, commission_totals, commissions
from storage.payments import disputes
from storage.reading import customer_timelines, events, partner_results, refund_totals
from storage.reading.customer_timelines import CustomerFilter
from storage.reading.event_filters import EventFilter
from storage.reading.refund_totals import RefundedMonth, RefundTotals
from storage.rules.period import Span, Window
from tests import stripe_events as stripe
from tests.storage.payments.paying import named, take
from tests.world import NOW, World

DAY = NOW.date()
TODAY = Window(DAY, DAY)


async def test_refunds_are_summed_by_month_and_partner(acme: World):
    await acme.customer()
    await acme.sale()
    await acme.refund("inv-1", 2_500)

    results = await acme.store.read(partner_results.get_results, acme.program_id, acme.anna, TODAY)
    by_partner = await acme.store.read(refund_totals.by_partner, acme.program_id, TODAY.span, [acme.anna, acme.ben])
    earned = await acme.store.read(commission_totals.by_cause, acme.program_id, TODAY.span)

    assert results.refunds == [RefundedMonth("2026-05", 1, 2_500, 500)]
    assert results.customers == {"conversion": 1}
    assert (results.last_sale_at, results.days[DAY].revenue_cents) == (NOW, 7_500)
    assert by_partner == {acme.anna: RefundTotals(1, 2_500, 500)}
    assert (earned.lead_cents, earned.sale_cents) == (0, 1_500)


async def test_holds_say_when_they_end(acme: World):
    await acme.customer()
    await acme.sale()

    [hold] = await acme.store.read(balances.next_holds, acme.program_id, acme.anna, at=NOW)
    owed = await acme.store.read(balances.of_partners, acme.program_id, [acme.anna], at=NOW)

    assert hold == (date(2026, 6, 4), 2_000)
    assert owed[acme.anna].next_hold_ends_at == owed[acme.anna].last_hold_ends_at == NOW + timedelta(days=15)


async def test_lists_are_filtered(acme: World):
    await acme.customer()
    await acme.sale()

    async def found(match: EventFilter) -> int:
        return len((await acme.store.read(events.list_events, acme.program_id, match=match)).data)

    async def stopped(before: datetime) -> int:
        match = CustomerFilter(last_sale_before=before)
        return len((await acme.store.read(customer_timelines.list_customers, acme.program_id, match=match)).data)

    [customer] = (await acme.store.read(customer_timelines.list_customers, acme.program_id)).data
    paid = await acme.store.read(commissions.list_commissions, acme.program_id, paid=Span(NOW, NOW))
    assert (customer.sales, customer.last_sale_at) == (1, NOW)
    assert await found(EventFilter(customer_id=customer.id)) == await found(EventFilter(partner_id=acme.anna)) == 3
    assert await found(EventFilter(Span(NOW, NOW + timedelta(seconds=1)))) == 3
    assert await found(EventFilter(Span(NOW + timedelta(seconds=1)))) == 0
    assert (await stopped(NOW), await stopped(NOW + timedelta(days=1))) == (0, 1)
    assert paid.data == []


async def test_a_dispute_marks_its_refund(acme: World):
    await take(acme, stripe.checkout(metadata=await named(acme)))
    await take(acme, stripe.dispute())

    [dispute] = await acme.store.read(disputes.list_disputes, acme.program_id)
    log = await acme.store.read(events.list_events, acme.program_id)

    assert (dispute.state, dispute.amount_cents, dispute.closed_at) == ("open", 10_000, None)
    assert [event.disputed for event in log.data if event.kind == "refund"] == [True]
