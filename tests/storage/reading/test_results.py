"""Results by day and hour, of a program and of a partner, refunds, holds, rejected calls, and what waits."""

from datetime import date, datetime, timedelta

from storage.management import balances, commission_totals, commissions, partners, pending_work
from storage.management.pending_work import Waiting
from storage.payments import disputes
from storage.reading import customer_timelines, events, partner_results, refund_totals, rejected_calls, results
from storage.reading.customer_timelines import CustomerFilter
from storage.reading.event_filters import EventFilter
from storage.reading.refund_totals import RefundedMonth, RefundTotals
from storage.reading.results import Results
from storage.rules.errors import CurrencyNotSupported, CustomerNotFound, DuplicateTransaction, InvalidKey
from storage.rules.period import DateRangeQuery, Span, Window
from tests import stripe_events as stripe
from tests.storage.payments.paying import named, take
from tests.world import HELD_SINCE, NOW, World


async def get(acme: World, partner_id: int | None = None, **query: str) -> Results:
    """Return the results of Acme, or of one of its partners."""
    partner = await acme.store.read(partners.get_partner, acme.program_id, partner_id) if partner_id else None
    wanted = DateRangeQuery(**query)
    return await acme.store.read(results.get_results, acme.program_id, wanted, at=NOW, partner=partner)


async def test_days_have_refunds_on_the_day_of_the_refund(acme: World):
    await acme.customer(at=HELD_SINCE)
    await acme.sale(occurred_at=HELD_SINCE, at=HELD_SINCE)
    await acme.refund("inv-1", 2_500)

    week, month = [await get(acme, period=period) for period in ("7d", "30d")]

    assert [len(each.steps) for each in (week, month)] == [7, 30]
    assert [step.refunded_cents for step in week.steps] == [0] * 6 + [2_500]
    assert [step.totals.revenue_cents for step in month.steps if step.totals.revenue_cents] == [7_500]
    assert month.report.current.revenue_cents == sum(step.totals.revenue_cents for step in month.steps)
    assert [step.totals.revenue_cents for step in week.previous_steps] == [0] * 7


async def test_a_single_day_is_shown_by_the_hour_for_the_program_and_for_each_partner(acme: World):
    await acme.customer()
    await acme.sale()
    await acme.refund("inv-1", 2_500)
    await acme.visitor("ben", at=NOW - timedelta(days=1, hours=2))
    today = {"date_from": str(NOW.date()), "date_to": str(NOW.date())}

    whole, anna, ben = [await get(acme, partner_id, **today) for partner_id in (None, acme.anna, acme.ben)]

    assert whole.is_hourly
    assert len(whole.steps) == len(whole.previous_steps) == 24
    noon = whole.steps[NOW.hour]
    assert (noon.at, noon.totals.clicks, noon.totals.revenue_cents, noon.refunded_cents) == (NOW, 1, 7_500, 2_500)
    assert anna.steps == whole.steps
    assert [step.totals.clicks for step in ben.steps] == [0] * 24
    assert ben.previous_steps[NOW.hour - 2].totals.clicks == 1
    assert ben.report.previous.clicks == 1
    assert anna.report.current == whole.report.current._replace(partners=1)


async def test_pending_work_counts_holds_flags_and_provisional_leads_with_their_worth(acme: World):
    await acme.customer(at=HELD_SINCE)
    await acme.sale(occurred_at=HELD_SINCE, at=HELD_SINCE)
    await acme.customer("user-2", "ben")
    await acme.sale("inv-2", customer_key="user-2")
    await acme.refund("inv-2", 5_000)
    await acme.sale("inv-3")
    await acme.lead(await acme.visitor(), "user-3", is_trusted=False)

    before = await acme.store.read(pending_work.get_pending_work, acme.program_id, at=NOW)
    await acme.flag()
    after = await acme.store.read(pending_work.get_pending_work, acme.program_id, at=NOW + timedelta(days=10))

    assert (before.ready, before.soon, before.flags, before.held) == (Waiting(1, 2_000), Waiting(), 0, Waiting())
    assert (before.next_hold_ends_at, before.provisional_leads) == (None, 1)
    assert (after.soon, after.next_hold_ends_at) == (Waiting(2, 3_000), NOW + timedelta(days=15))
    assert (after.flags, after.held) == (1, Waiting(1, 2_000))


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


async def at_stake(acme: World) -> dict[str, dict[str, int]]:
    causes = await acme.store.read(rejected_calls.by_cause, acme.program_id)
    return {cause.code: {each.currency: each.amount_cents for each in cause.at_stake} for cause in causes}


async def test_the_amounts_of_rejected_sales_not_of_refunds_are_added_by_cause_and_currency(acme: World):
    await acme.reject(CustomerNotFound(), transaction_id="inv-1", amount_cents=100, currency="USD")
    await acme.reject(CustomerNotFound(), transaction_id="inv-2", amount_cents=200, currency="USD")
    await acme.reject(CustomerNotFound(), transaction_id="inv-3", amount_cents=400, currency="EUR")
    await acme.reject(InvalidKey(), transaction_id="inv-4", amount_cents=800, currency="USD")
    await acme.reject(CurrencyNotSupported())
    await acme.reject(CurrencyNotSupported(), call="refund", transaction_id="inv-1", amount_cents=100)

    assert await at_stake(acme) == {
        "customer_not_found": {"EUR": 400, "USD": 300},
        "invalid_key": {"USD": 800},
        "currency_not_supported": {},
    }


async def test_a_sale_that_was_sent_again_or_recorded_since_is_not_counted_twice(acme: World):
    for transaction_id in ("inv-1", "inv-1", "inv-2"):
        await acme.reject(CustomerNotFound(), transaction_id=transaction_id, amount_cents=100, currency="USD")
    await acme.customer()
    await acme.sale("inv-2", amount_cents=100)
    for same in (True, False):
        error = DuplicateTransaction(same_payload=same)
        await acme.reject(error, transaction_id="inv-2", amount_cents=700 if same else 50, currency="USD")

    assert await at_stake(acme) == {"customer_not_found": {"USD": 100}, "duplicate_transaction": {"USD": 50}}


async def test_rejected_calls_are_grouped_by_cause_the_most_frequent_first(acme: World):
    for n, rejection in enumerate((CustomerNotFound(), DuplicateTransaction(), CustomerNotFound())):
        at = NOW + timedelta(minutes=n)
        await acme.reject(rejection, at=at)

    assert await acme.store.read(rejected_calls.by_cause, acme.program_id) == [
        ("customer_not_found", 2, NOW, NOW + timedelta(minutes=2), ()),
        ("duplicate_transaction", 1, NOW + timedelta(minutes=1), NOW + timedelta(minutes=1), ()),
    ]
