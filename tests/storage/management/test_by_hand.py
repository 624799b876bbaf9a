"""By hand: a sale that no one reported, a bonus, another partner; the books add up after any of it."""

from datetime import timedelta
from typing import Any

import pytest

from storage.engine.audit import AGENT_KEY, Actor
from storage.lists.audit_log import AUDIT_LOG
from storage.lists.commissions import COMMISSIONS
from storage.lists.customers import CUSTOMERS
from storage.lists.flags import FLAGS
from storage.management import agent_caps, by_hand, partners
from storage.management.partners import Past
from storage.rules import errors
from storage.rules.scope import Scope
from tests.world import NOW, OLGA, World

BY: Any = {"actor": OLGA, "at": NOW}
WHY = {"reason": "Anna asked; order confirmed"}


async def credit(acme: World, **sent: Any) -> Any:
    about = {"amount_cents": 12_900, "currency": "USD", **WHY, **BY, **sent}
    return await acme.do(by_hand.credit_sale, **about)


async def adjust(acme: World, cents: int, **sent: Any) -> Any:
    about = {"partner_id": acme.anna, "amount_cents": cents, **WHY, **BY, **sent}
    return await acme.do(by_hand.adjust, **about)


async def move(acme: World, customer: int, past: Past, **sent: Any) -> Any:
    about = {"partner_id": acme.ben, "past": past, **WHY, **BY, **sent}
    return await acme.do(partners.move_customer, customer, **about)


@pytest.mark.both_databases
async def test_a_credit_is_priced_by_the_terms_of_its_day_on_hold_logged_explained_and_remembered(acme: World):
    day = NOW + timedelta(days=3)
    await acme.change(commission_rate=50, at=day)

    before, after, _ = [
        await credit(acme, partner_id=acme.anna, customer_key="user-9", occurred_at=at, at=day)
        for at in (NOW, day, NOW - timedelta(days=1))
    ]
    sold = await acme.sale("inv-2", customer_key="user-9", at=day)

    assert [each.amount_cents for each in (before, after)] == [2_580, 6_450]
    assert (before.status, before.credited_by, before.hold_until) == ("pending", OLGA.name, NOW + timedelta(days=15))
    assert sold.commission_cents == 5_000
    (entry, *_) = (await acme.listed(AUDIT_LOG)).data
    assert (entry.action, entry.after["reason"]) == ("commission.credit", WHY["reason"])
    assert entry.subject.amount_cents == 2_580
    seen = await acme.explain(transaction_id=before.transaction_id)
    texts = {each.step: each.text for each in seen.steps}
    assert (seen.outcome, "credited by hand" in texts["hold"], "by hand" in texts["click"]) == ("credited", True, True)


async def test_a_credit_goes_to_the_partner_of_a_click_and_one_that_earns_nothing_is_rejected_whole(acme: World):
    await acme.customer(code="ben")
    credited = await credit(acme, click_id=await acme.visitor("ben"), transaction_id="inv-1")
    wrong: list[tuple[type[errors.ServiceError], dict[str, Any]]] = [
        (errors.DuplicateTransaction, {"partner_id": acme.ben, "transaction_id": "inv-1"}),
        (errors.PartnerNotFound, {"partner_id": 7}),
        (errors.CustomerNotFound, {"click_id": "unknown"}),
        (errors.CurrencyNotSupported, {"partner_id": acme.ben, "currency": "CHF"}),
        (errors.ValidationError, {}),
        (errors.ValidationError, {"partner_id": acme.anna, "click_id": await acme.visitor("ben")}),
        (errors.ValidationError, {"partner_id": acme.anna, "customer_key": "user-1"}),
        (errors.ValidationError, {"partner_id": acme.anna, "amount_cents": 1}),
        (errors.ValidationError, {"partner_id": acme.anna, "occurred_at": NOW + timedelta(days=1)}),
    ]
    rows = len((await acme.listed(CUSTOMERS)).data)

    for error, sent in wrong:
        with pytest.raises(error):
            await credit(acme, **sent)

    (customer, *_) = (await acme.listed(CUSTOMERS, customer_key="user-1")).data
    known = await credit(acme, partner_id=acme.ben, click_id=customer.click_id, customer_key="USER-1")
    assert (credited.partner_id, credited.transaction_id, known.customer_key) == (acme.ben, "inv-1", "user-1")
    assert len((await acme.listed(CUSTOMERS)).data) == rows


async def test_what_agent_keys_credit_in_a_day_has_the_caps_of_what_they_approve(acme: World):
    issued = await acme.issue(Scope.COMMISSIONS_WRITE)
    agent: Any = {"actor": Actor(AGENT_KEY, str(issued.id), "Nightly"), "at": NOW}
    await acme.do(agent_caps.change, {"amount_in_a_day_cents": 6_000})
    await acme.customer()
    (customer,) = (await acme.listed(CUSTOMERS)).data
    await acme.sale("inv-1", 5_000)

    await credit(acme, partner_id=acme.anna, **agent)
    await adjust(acme, -2_500, **agent)
    for operation, sent in ((credit, (acme,)), (adjust, (acme, 1_000)), (move, (acme, customer.id, Past.MOVE))):
        with pytest.raises(errors.OverCap):
            await operation(*sent, **agent | ({"partner_id": acme.anna} if operation is credit else {}))
    with pytest.raises(errors.PartnerNotFound):
        await move(acme, customer.id, Past.STAY, partner_id=7)
    moved = await move(acme, customer.id, Past.STAY, **agent)

    assert (moved.partner_id, (await adjust(acme, 1_000)).amount_cents) == (acme.ben, 1_000)


@pytest.mark.both_databases
async def test_a_moved_customer_earns_the_other_partner_the_unpaid_past_and_the_future(acme: World):
    await acme.customer()
    (customer,) = (await acme.listed(CUSTOMERS)).data
    paid, approved, _ = [(await acme.sale(f"inv-{n}")).commission_id or 0 for n in range(3)]
    await acme.decide("approved", paid, approved)
    await acme.decide("paid", paid)
    await acme.refund("inv-1", 5_000)
    await acme.flag(customer.id)

    asked = await acme.store.read(partners.count_past, acme.program_id, customer.id)
    await move(acme, customer.id, Past.MOVE)
    await acme.sale("inv-3")
    await acme.refund("inv-2")

    shown = {each.transaction_id: (each.partner_id, each.status) for each in (await acme.listed(COMMISSIONS)).data}
    assert tuple(asked) == (2, 3_000)
    assert shown.pop("inv-0") == (acme.anna, "paid")
    ben = acme.ben
    assert shown == {"inv-1": (ben, "pending"), "inv-2": (ben, "reversed"), "inv-3": (ben, "pending")}
    assert (await acme.listed(FLAGS)).data[0].partner_id == ben
    step = next(each for each in (await acme.explain(transaction_id="inv-1")).steps if each.step == "partner")
    assert "was moved to them" in step.text
