"""Whatever a payment account tells, in any order, doubled, and together: the totals are those of once, in order."""

import asyncio
from collections.abc import Sequence
from datetime import timedelta
from typing import Any, NamedTuple

from hypothesis import given, settings
from hypothesis import strategies as st

from storage import Storage
from storage.checks import books
from storage.payments import decisions
from storage.tables import commissions, ledger_entries, rollups, sales
from tests import stripe_events as stripe
from tests import world
from tests.storage.payments.paying import take
from tests.world import NOW, World

Event = dict[str, Any]
MONTH = timedelta(days=30)
AFTERWARDS = NOW + 12 * MONTH
AMOUNT = 10_000


class Totals(NamedTuple):
    """What a program is left with."""

    sales: list[tuple[str, int, int]]
    commissions: list[tuple[int, str]]
    ledger_cents: int
    rollups: list[tuple[int, int, int]]


def checkout() -> Event:
    """Return the checkout of a subscription; `{click}` stands for the customer's click."""
    clicked = {"svc_click_id": "{click}"}
    return stripe.checkout(mode="subscription", invoice="in_0", payment_intent=None, metadata=clicked)


@st.composite
def histories(draw: st.DrawFn) -> list[Event]:
    """Return what happens to one subscription, in its order."""
    old_shape = draw(st.booleans())
    events = [checkout()]
    for number in range(draw(st.integers(1, 4))):
        events += draw(invoices(number, old_shape=old_shape))
        events += draw(returns(number))
    return events


@st.composite
def invoices(draw: st.DrawFn, number: int, *, old_shape: bool) -> list[Event]:
    """Return the events of one invoice; of the newest version's, what paid it may stand in an event of its own."""
    name, at = f"in_{number}", NOW + number * MONTH
    told_apart = not old_shape and draw(st.booleans())
    about: dict[str, Any] = {"payments": None} if told_apart else {}
    paid = stripe.invoice(f"evt_{name}", name=name, renewal=number > 0, old_shape=old_shape, at=at, **about)
    linked = stripe.invoice_payment(f"evt_pay_{name}", invoice=name, intent=f"pi_{name}", at=at)
    kinds = [each for each in ("payment_intent", "charge") if draw(st.booleans())]
    bare = [stripe.intent(f"pi_{name}", kind=kind, at=at) for kind in kinds]
    return [*bare, paid, linked] if told_apart or draw(st.booleans()) else [*bare, paid]


@st.composite
def returns(draw: st.DrawFn, number: int) -> list[Event]:
    """Return refunds of one charge, by themselves and in its total, and a dispute with its end."""
    intent, at = f"pi_in_{number}", NOW + number * MONTH + timedelta(days=1)
    events, total = [], 0
    for count, cents in enumerate(draw(st.lists(st.integers(1, AMOUNT // 4), max_size=3))):
        name, at = f"re_{number}_{count}", at + timedelta(hours=1)
        status = draw(st.sampled_from(["succeeded", "succeeded", "failed"]))
        about: Any = {"name": name, "status": status, "intent": intent, "at": at}
        events.append(stripe.refund_updated(f"evt_{name}", amount=cents, **about))
        if status == "succeeded":
            total += cents
            events.append(stripe.charge_refunded(f"evt_total_{name}", total=total, intent=intent, at=at))
    if draw(st.booleans()):
        cents = draw(st.integers(1, AMOUNT))
        opened = stripe.dispute(f"evt_dispute_{number}", amount=cents, intent=intent, name=f"dp_{number}")
        events.append(opened)
        ended = draw(st.sampled_from(["won", "lost", None]))
        if ended:
            closed = stripe.dispute_closed(ended, amount=cents, intent=intent, at=at + MONTH, name=f"dp_{number}")
            events.append({**closed, "id": f"evt_closed_{number}"})
    return events


class ReportedSale(NamedTuple):
    """A history, and how it arrives: some of it more than once, in any order, the events of a group together.

    It may be so late that each payment intent has settled before what it belongs to is reported.
    """

    history: list[Event]
    groups: list[list[Event]]
    is_late: bool


@st.composite
def deliveries(draw: st.DrawFn) -> ReportedSale:
    """Return a history and one way in which it may arrive."""
    history = draw(histories())
    repeated = draw(st.lists(st.sampled_from(history), max_size=6))
    shuffled = draw(st.permutations([*history, *repeated]))
    size = draw(st.integers(1, 4))
    groups = [shuffled[start : start + size] for start in range(0, len(shuffled), size)]
    return ReportedSale(history, groups, draw(st.booleans()))


async def deliver(store: Storage, groups: Sequence[Sequence[Event]], *, late: bool = False) -> Totals:
    """Tell a fresh program these events, those of a group together; return what it is left with."""
    acme = await world.acme(store)
    click_id = await acme.visitor()
    for group in groups:
        await asyncio.gather(*(take(acme, _of(event, click_id)) for event in group))
        if late:
            await acme.store.write(decisions.record_late, acme.program_id, at=AFTERWARDS)
    await acme.store.write(decisions.record_late, acme.program_id, at=AFTERWARDS)
    return await totals(acme)


def _of(event: Event, click_id: str) -> Event:
    found = event["data"]["object"]
    metadata = found.get("metadata") or {}
    if metadata.get("svc_click_id") != "{click}":
        return event
    return {**event, "data": {"object": {**found, "metadata": {"svc_click_id": click_id}}}}


async def totals(acme: World) -> Totals:
    sold, earned, entries, days = [await acme.rows(each) for each in (sales, commissions, ledger_entries, rollups)]
    return Totals(
        sorted((each.transaction_id, each.amount_cents, each.refunded_cents) for each in sold),
        sorted((each.amount_cents, each.status) for each in earned),
        sum(each.amount_cents for each in entries),
        sorted((each.sales, each.revenue_cents, each.commission_cents) for each in days),
    )


def summed(left: Totals) -> list[Any]:
    """Return the totals without the names of sales and the days of commissions, which depend on what came first."""
    days = [sum(each) for each in zip(*left.rollups, strict=True)]
    return [sorted(cents for _, *cents in left.sales), left[1:3], days]


@settings(max_examples=60)
@given(reported=deliveries())
async def test_any_order_repetition_and_company_end_as_in_order_and_once(store: Storage, reported: ReportedSale):
    in_order = await deliver(store, [[event] for event in reported.history])
    in_any = await deliver(store, reported.groups, late=reported.is_late)

    assert in_any == in_order if not reported.is_late else summed(in_any) == summed(in_order)
    assert len(in_order.sales) == sum(event["type"] == "invoice.paid" for event in reported.history)
    assert await store.read(books.run) == []
