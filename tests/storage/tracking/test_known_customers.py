"""A sale or payment that names a click and a new customer_key: the key alone finds the customer from then on."""

import asyncio
from itertools import groupby
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storage import Storage
from storage.checks import books
from storage.lists.customers import CUSTOMERS, find_customer
from storage.rules import errors
from storage.rules.settlement import LeadAuthPolicy
from storage.tables import customers, leads, sales
from tests import stripe_events as stripe
from tests import world
from tests.storage.payments.paying import take
from tests.world import World


async def stored(acme: World) -> list[Any]:
    return await world.stored(acme, customers.c.customer_key, customers.c.known_as)


async def paid(acme: World, number: int, *, amount: int = 10_000, **metadata: str | None) -> str:
    """Take a checkout with this metadata of a processor customer of its own, and return its outcome."""
    named = {f"svc_{name}": value for name, value in metadata.items() if value is not None}
    ids: dict[str, Any] = {"id": f"cs_{number}", "payment_intent": f"pi_{number}", "customer": f"cus_{number}"}
    event = stripe.checkout(f"evt_{number}", amount=amount, metadata=named, **ids)
    return (await take(acme, event)).outcome


async def test_a_sale_with_a_click_and_a_new_key_lets_the_key_alone_find_its_customer(acme: World):
    click_id = await acme.visitor()

    sold = [await acme.sale("inv-1", click_id=click_id, customer_key="user-1"), await acme.sale("inv-2")]
    payment = await paid(acme, 1, customer_key="user-1")
    for named in (click_id, None):
        with pytest.raises(errors.StatusTransitionRefused):
            await acme.lead(named, "user-1")

    said = [(each.customer_key, each.customer_key_saved, each.commission_cents) for each in sold]
    assert said == [("user-1", False, 2_000)] * 2
    assert payment == "held_as_duplicate"
    (row,) = (await acme.listed(CUSTOMERS, customer_key="user-1")).data
    assert await acme.store.read(find_customer, acme.program_id, customer_key="user-1") == row.id
    assert (row.customer_key, row.known_as, row.sales) == (None, "user-1", 2)


async def test_a_settled_lead_outranks_what_a_sale_said_and_a_browser_does_not(store: Storage):
    acme = await world.acme(store, lead_auth_policy=LeadAuthPolicy.BROWSER_ALLOWED)
    await acme.sale("inv-1", click_id=await acme.visitor(), customer_key="user-1")
    await acme.lead(await acme.visitor("ben"), "user-1", is_trusted=False)
    browser = await stored(acme)
    await acme.lead(await acme.visitor("ben"), "user-1")

    await acme.sale("inv-2")

    assert browser == [(None, "user-1"), (None, None)]
    assert await stored(acme) == [(None, None), (None, None), ("user-1", None)]
    assert await world.stored(acme, leads.c.settlement) == [("outranked",), ("settled",)]
    assert await world.stored(acme, sales.c.partner_id) == [(acme.anna,), (acme.ben,)]


async def test_of_two_processes_one_names_the_key_and_the_other_finds_its_customer(acme: World, elsewhere: World):
    for number in range(5):
        clicks = [await acme.visitor(), await acme.visitor("ben")]
        names: dict[str, Any] = {"customer_key": f"user-{number}", "amount_cents": 500 + number}
        await asyncio.gather(
            acme.sale(f"a-{number}", click_id=clicks[0], **names),
            elsewhere.sale(f"b-{number}", click_id=clicks[1], **names),
        )

    assert [known_as for _, known_as in await stored(acme)] == [f"user-{number}" for number in range(5)]


class Step(NamedTuple):
    """One call or event: of one of two visitors, with one of two keys, or without either."""

    kind: str
    visitor: int | None
    key: str | None


class Expected:
    """What the calls so far should have led to: who carries each key, who is known as it, and whose each sale is."""

    def __init__(self) -> None:
        self.carried: dict[str, int] = {}
        self.known: dict[str, int] = {}
        self.sold: dict[str, int] = {}

    def take(self, step: Step, name: str) -> str:
        """Return how a step ends, and remember what it changes."""
        kind, visitor, key = step
        holder = None if key is None else self.carried.get(key, self.known.get(key))
        own = {each for keys in (self.carried, self.known) for each, of in keys.items() if of == visitor}
        touched = visitor in {*self.sold.values(), *self.carried.values()}
        if kind == "lead":
            return self._lead(visitor, key, own, touched)
        if visitor is None and holder is None:
            return "unknown"
        if kind == "sale" and None not in {visitor, holder} and holder != visitor:
            ends, buyer = "conflict" if touched else "recorded", holder
        else:
            buyer = holder if visitor is None else visitor
            ends = "conflict" if visitor is not None and key and own and key not in own else "recorded"
        if ends == "recorded" and buyer is not None:
            self.sold[name] = buyer
            if visitor is not None and key and holder is None:
                self.known[key] = visitor
        return ends

    def _lead(self, visitor: int | None, key: str | None, own: set[str], touched: bool) -> str:  # noqa: FBT001
        assert visitor is not None
        assert key is not None
        carrier = self.carried.get(key, visitor)
        if carrier != visitor:
            if touched:
                return "conflict"
            return "late" if carrier in self.sold.values() else "recorded"
        if own - {key}:
            return "conflict"
        if visitor in self.sold.values():
            return "late"
        self.carried[key] = visitor
        self.known.pop(key, None)
        return "recorded"


OUTCOMES = {"identifier_conflict": "conflict", "status_transition_refused": "late", "customer_not_found": "unknown"}
OUTCOMES["waiting"] = "unknown"
visitors, keys = st.sampled_from((0, 1)), st.sampled_from(("user-0", "user-1"))
steps = st.one_of(
    st.builds(Step, st.just("lead"), visitors, keys),
    st.builds(Step, st.sampled_from(("sale", "payment")), visitors, st.none() | keys),
    st.builds(Step, st.sampled_from(("sale", "payment")), st.none(), keys),
    st.builds(Step, st.just("refund"), st.none(), st.none()),
)


@given(history=st.lists(steps, min_size=2, max_size=10))
async def test_in_any_order_each_key_has_one_customer_and_each_sale_its_partner(store: Storage, history: list[Step]):
    acme, expected = await world.acme(store), Expected()
    clicks = [await acme.visitor("anna"), await acme.visitor("ben")]

    async def take_step(number: int, step: Step) -> str:
        click_id = None if step.visitor is None else clicks[step.visitor]
        named: dict[str, Any] = {"click_id": click_id, "customer_key": step.key}
        if step.kind == "payment":
            outcome = await paid(acme, number, amount=100 + number, **named)
            return OUTCOMES.get(outcome, outcome)
        try:
            await (acme.lead(**named) if step.kind == "lead" else acme.sale(f"inv-{number}", 100 + number, **named))
        except errors.ServiceError as error:
            return OUTCOMES[error.code]
        return "recorded"

    for kind, group in groupby(enumerate(history), key=lambda each: each[1].kind):
        together = list(group)  # and in one batch, where they are calls
        if kind == "refund":
            for name in expected.sold:
                await acme.refund(name, 10)
            continue
        ends = [expected.take(step, f"{'pi_' if kind == 'payment' else 'inv-'}{n}") for n, step in together]
        if kind == "payment":
            assert [await take_step(*each) for each in together] == ends
        else:
            assert await asyncio.gather(*(take_step(*each) for each in together)) == ends

    partners = {name: (acme.anna, acme.ben)[visitor] for name, visitor in expected.sold.items()}
    assert {each.transaction_id: each.partner_id for each in await acme.rows(sales)} == partners
    assert await store.read(books.run) == []
