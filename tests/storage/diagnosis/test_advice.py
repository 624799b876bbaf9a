"""Who follows the advice about a sale or a payment sees it credited; what was rejected, by cause, with its money."""

from collections.abc import AsyncIterator, Callable
from datetime import timedelta
from typing import Any

import pytest

from storage.diagnosis import lost_sales
from storage.diagnosis.explanation import explain
from storage.lists.payment_events import PAYMENT_EVENTS
from storage.management import partners
from storage.payments import decisions
from storage.payments.decisions import Decision
from storage.rules import errors
from storage.rules.attribution import PartnerStatus
from storage.rules.outcome import SaleOutcome
from storage.tracking import currencies
from tests import stripe_events as stripe
from tests.storage.databases import both_databases
from tests.storage.payments.paying import take
from tests.world import NOW, World

OF_KEY, OF_SALE = {"customer_key": "user-1"}, {"transaction_id": "inv-9"}
Story = AsyncIterator[tuple[dict[str, str], str]]  # what to explain, and a part of the advice, which follows


async def attempt(acme: World, call: str, **fields: Any) -> None:
    """Send a lead or a sale that is rejected, and logged as the endpoint logs it."""
    try:
        await (acme.lead(**fields) if call == "lead" else acme.sale("inv-9", **fields))
    except errors.ServiceError as error:
        named = {name: fields.get(name) for name in ("click_id", "customer_key")}
        await acme.reject(error, call=call, transaction_id="inv-9" if call == "sale" else None, **named)


async def pay(acme: World, currency: str = "usd", **metadata: str) -> None:
    """Take a checkout with this metadata."""
    named = {f"svc_{name}": value for name, value in metadata.items()}
    await take(acme, stripe.checkout(payment_intent="inv-9", customer="cus_9", currency=currency, metadata=named))


async def retry(acme: World, click_id: str | None = None, customer_key: str | None = None) -> None:
    """Choose Try again under Settings, Payments; name the customer, or not."""
    [newest, *_] = (await acme.listed(PAYMENT_EVENTS)).data
    await acme.do(decisions.decide, newest.id, Decision.RETRY, click_id=click_id, customer_key=customer_key)


async def late_lead(acme: World, click_id: str) -> Story:
    await acme.sale("inv-1", click_id=click_id)
    await attempt(acme, "lead", click_id=click_id, customer_key="user-1")
    yield OF_KEY, "send click_id and customer_key with the next sale: later ones are then found by the customer_key"
    await acme.sale("inv-2", click_id=click_id, customer_key="user-1")
    await acme.sale("inv-3", customer_key="user-1")


async def lost_lead(acme: World, click_id: str) -> Story:
    await attempt(acme, "sale", customer_key="user-1")
    yield OF_SALE, "add the click_id from the cookie"
    await acme.sale("inv-9", click_id=click_id, customer_key="user-1")


async def second_account(acme: World, click_id: str) -> Story:
    await acme.lead(click_id, "user-1")
    await attempt(acme, "sale", click_id=click_id, customer_key="user-2")
    yield OF_SALE, "or the click_id alone"
    await acme.sale("inv-9", click_id=click_id)


async def second_account_with_the_first_key(acme: World, click_id: str) -> Story:
    await acme.sale("inv-1", click_id=click_id, customer_key="user-1")
    await attempt(acme, "sale", click_id=click_id, customer_key="user-2")
    yield OF_SALE, "send the customer_key that the click's customer has"
    await acme.sale("inv-9", customer_key="user-1")


async def second_account_with_a_click(acme: World, click_id: str) -> Story:
    await acme.lead(click_id, "user-2")
    await attempt(acme, "lead", click_id=click_id, customer_key="user-1")
    yield OF_KEY, "needs a click of its own"
    await acme.lead(await acme.visitor(), "user-1")
    await acme.sale("inv-9")


async def no_lead(acme: World, click_id: str) -> Story:
    yield {"click_id": click_id}, "send the click_id with the sale"
    await acme.sale("inv-9", click_id=click_id)


async def provisional(acme: World, click_id: str) -> Story:
    await acme.lead(click_id, is_trusted=False)
    yield {"click_id": click_id}, "Then send the sale"
    await acme.lead(click_id, "user-1")
    await acme.sale("inv-9")


async def unsold(acme: World, click_id: str) -> Story:
    await acme.lead(click_id)
    yield {"click_id": click_id}, "or click_id"
    await acme.sale("inv-9", click_id=click_id)


async def waiting_payment(acme: World, click_id: str) -> Story:
    await pay(acme, customer_key="user-1")
    yield OF_SALE, "send their lead with the program key, click_id and this customer_key"
    await acme.lead(click_id, "user-1")
    await retry(acme)


async def waiting_payment_of_a_buyer(acme: World, click_id: str) -> Story:
    await acme.sale("inv-1", 700, click_id=click_id)
    await pay(acme, customer_key="user-1")
    yield OF_SALE, "name the customer there by the click_id"
    await retry(acme, click_id)
    await acme.sale("inv-2", 800, customer_key="user-1")


async def similar_key(acme: World, click_id: str) -> Story:
    await acme.lead(click_id, "USER-1")
    await pay(acme, customer_key="user-1")
    yield OF_SALE, 'svc_customer_key "USER-1"'
    await retry(acme, customer_key="USER-1")


async def organic_payment(acme: World, click_id: str) -> Story:
    await pay(acme)
    yield OF_SALE, "name this payment's customer"
    await retry(acme, click_id)


async def second_accounts_payment(acme: World, click_id: str) -> Story:
    await acme.lead(click_id, "user-1")
    await pay(acme, click_id=click_id, customer_key="user-2")
    yield OF_SALE, "by the click_id, if both accounts are one person"
    await retry(acme, click_id)
    await take(acme, stripe.invoice(name="in_2", amount=300, metadata={"svc_customer_key": "user-2"}, customer="cus_9"))


async def payment_out_of_time(acme: World, _: str) -> Story:
    await pay(acme, click_id=await acme.visitor(at=NOW - timedelta(days=61)))
    yield OF_SALE, "extend the program's attribution_window_days and choose Try again"
    await acme.change(attribution_window_days=90)
    await retry(acme)


async def payment_of_a_partner_who_left(acme: World, click_id: str) -> Story:
    async def become(status: PartnerStatus) -> None:
        await acme.do(partners.change, acme.anna, {"status": status})

    await become(PartnerStatus.INACTIVE)
    await pay(acme, click_id=click_id)
    yield OF_SALE, "Set the partner to active or paused and choose Try again"
    await become(PartnerStatus.PAUSED)
    await retry(acme)


async def payment_without_a_rate(acme: World, click_id: str) -> Story:
    await pay(acme, "gbp", click_id=click_id)
    yield OF_SALE, "Load the exchange rates"
    day = NOW.date() - timedelta(days=1)
    await acme.store.write(currencies.load, [(day, "USD", "1.1"), (day, "GBP", "0.9")])
    await retry(acme)


STORIES: list[Callable[[World, str], Story]] = [
    *(late_lead, lost_lead, second_account, second_account_with_the_first_key, second_account_with_a_click, no_lead),
    *(provisional, unsold, waiting_payment, waiting_payment_of_a_buyer, similar_key, organic_payment),
    *(second_accounts_payment, payment_out_of_time, payment_of_a_partner_who_left, payment_without_a_rate),
]


@pytest.mark.parametrize("story", STORIES)
async def test_whoever_follows_the_advice_sees_the_sale_credited(acme: World, story: Callable[[World, str], Story]):
    async for subject, advice in story(acme, await acme.visitor()):
        before = await acme.store.read(explain, acme.program_id, **subject, at=NOW)
        assert before.outcome != SaleOutcome.CREDITED
        assert advice in str(before.smallest_change)

    after = await acme.store.read(explain, acme.program_id, **subject, at=NOW)
    assert after.outcome == SaleOutcome.CREDITED


@both_databases
async def test_causes_are_split_across_codes_with_what_was_credited_later(acme: World):
    async def reject(error: errors.ServiceError, name: str, key: str | None = None, **sent: Any) -> None:
        money = {"amount_cents": 1_000, "currency": "EUR"}
        await acme.reject(error, **{"transaction_id": name, "customer_key": key, **money, **sent})

    await acme.customer("User-1")
    await acme.customer("User-2")
    for _ in range(2):
        await reject(errors.CustomerNotFound(), "case-1", "user-1")
    await reject(errors.IdentifierConflict(), "case-2", "user-2")
    await reject(errors.CustomerNotFound(), "id-1", "cus_9xZ")
    await reject(errors.CustomerNotFound(), "id-2", "cus_9xZ")
    await reject(errors.CustomerNotFound(), "organic-1", "User-9")
    await reject(errors.CustomerWrongProgram(), "foreign-1")
    await acme.sale("case-1", 1_000, customer_key="User-1")
    await acme.sale("id-1", 1_000, customer_key="User-2")
    over: Any = {"call": "refund", "amount_cents": 11_000, "currency": None}
    await reject(errors.RefundExceedsSale(), "case-1", **over)

    found = await acme.store.read(lost_sales.split, acme.program_id)

    amounts = {
        (each.call, each.cause): (each.transactions, each.first_sent, each.credited, each.lost) for each in found
    }
    one, two = {"EUR": 1_000}, {"EUR": 2_000}
    assert amounts == {
        ("sale", "letter_case"): (2, two, one, one),
        ("sale", "processor_id"): (2, two, one, one),
        ("sale", "organic"): (1, one, {}, one),
        ("sale", "wrong_program"): (1, one, {}, one),
        ("refund", "refund_exceeds_sale"): (1, {"USD": 11_000}, {}, {"USD": 11_000}),
    }
    by_cause = {each.cause: each for each in found}
    assert by_cause["letter_case"].codes == {"customer_not_found": 2, "identifier_conflict": 1}
    assert by_cause["letter_case"].likely == {"user-1": "User-1", "user-2": "User-2"}
    assert by_cause["processor_id"].likely == {"cus_9xZ": "User-2"}
    assert by_cause["processor_id"].lost_transaction_ids == ["id-2"]
