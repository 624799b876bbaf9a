"""Who follows the advice about a sale or a payment sees it credited; what was rejected, by cause, with its money."""

from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any

import pytest

from storage.diagnosis import lost_sales
from storage.lists.payment_events import PAYMENT_EVENTS
from storage.management import partners
from storage.payments import decisions
from storage.payments.decisions import Decision
from storage.rules import errors
from storage.rules.attribution import PartnerStatus
from storage.rules.outcome import SaleOutcome
from storage.tracking import currencies, test_mode
from tests import stripe_events as stripe
from tests.storage.payments.paying import take
from tests.tables import table
from tests.world import NOW, World


async def attempt(acme: World, call: str, **fields: Any) -> None:
    """Send a lead or a sale that is rejected, and logged as the endpoint logs it."""
    try:
        await (acme.lead(**fields) if call == "lead" else acme.sale("inv-9", **fields))
    except errors.ServiceError as error:
        named = {name: fields.get(name) for name in ("click_id", "customer_key")}
        await acme.reject(error, call=call, transaction_id="inv-9" if call == "sale" else None, **named)


async def pay(acme: World, currency: str = "usd", **metadata: str) -> None:
    named = {f"svc_{name}": value for name, value in metadata.items()}
    await take(acme, stripe.checkout(payment_intent="inv-9", customer="cus_9", currency=currency, metadata=named))


async def retry(acme: World, click_id: str | None = None, customer_key: str | None = None) -> None:
    """Choose Try again under Settings, Payments; name the customer, or not."""
    [newest, *_] = (await acme.listed(PAYMENT_EVENTS)).data
    await acme.do(decisions.decide, newest.id, Decision.RETRY, click_id=click_id, customer_key=customer_key)


async def renew(acme: World, **metadata: str) -> None:
    """Take the next invoice of who paid."""
    await take(acme, stripe.invoice(name="in_2", amount=300, metadata=metadata, customer="cus_9"))


async def become(acme: World, status: str) -> None:
    """Change the status of Anna, who sent the visitor."""
    await acme.do(partners.change, acme.anna, {"status": PartnerStatus(status)})


async def load(acme: World, **rates: str) -> None:
    """Load yesterday's exchange rates."""
    day = NOW.date() - timedelta(days=1)
    await acme.store.write(currencies.load, [(day, currency, rate) for currency, rate in rates.items()])


async def record_test(acme: World, transaction_id: str) -> None:
    """Send a sale in test mode."""
    await acme.handle(test_mode.record_with_key, test_mode.TestModeCall("sale", NOW, transaction_id=transaction_id))


OURS = (World.sale, World.lead, World.refund, World.change, attempt, pay, retry, renew, become, load)
STEPS: dict[str, Callable[..., Awaitable[Any]]] = {"try": record_test, **{each.__name__: each for each in OURS}}
STORIES: list[Any] = table("storage/diagnosis/stories.json")


@pytest.mark.parametrize("story", STORIES, ids=[each["what"] for each in STORIES])
async def test_each_story_has_its_outcome_and_who_follows_its_advice_is_credited(acme: World, story: dict[str, Any]):
    clicks = {"CLICK": await acme.visitor(), "ANOTHER CLICK": await acme.visitor()}
    clicks["FOREIGN CLICK"] = await (await acme.beside()).visitor()
    clicks["BOT'S CLICK"] = await acme.visitor(filtered="bot")
    clicks["OLD CLICK"] = await acme.visitor(at=NOW - timedelta(days=61))

    def filled(about: dict[str, Any]) -> dict[str, Any]:
        return {name: clicks.get(value, value) for name, value in about.items()}

    async def take_steps(steps: list[Any]) -> None:
        for name, *values, about in steps:
            await STEPS[name](acme, *(clicks.get(value, value) for value in values), **filled(about))

    subject = filled(story["explain"])
    await take_steps(story["before"])
    before = await acme.explain(**subject)
    assert before.outcome != SaleOutcome.CREDITED
    assert before.outcome == story.get("outcome", before.outcome)
    assert before.smallest_change

    if "advice" in story:
        await take_steps(story["then"])
        after = await acme.explain(**subject)
        assert story["advice"] in before.smallest_change
        assert after.outcome == SaleOutcome.CREDITED


@pytest.mark.both_databases
async def test_causes_are_split_across_codes_with_what_was_credited_later(acme: World):
    async def reject(error: errors.ServiceError, name: str, key: str | None = None, **sent: Any) -> None:
        money = {"amount_cents": 1_000, "currency": "EUR"}
        await acme.reject(error, **{"transaction_id": name, "customer_key": key, **money, **sent})

    await acme.customer("User-1")
    await acme.customer("User-2")
    for _ in range(2):
        await reject(errors.CustomerNotFound(), "case-1", "user-1")
    await reject(errors.IdentifierConflict(), "case-2", "user-2")
    for name, key in (("id-1", "cus_9xZ"), ("id-2", "cus_9xZ"), ("organic-1", "User-9")):
        await reject(errors.CustomerNotFound(), name, key)
    await reject(errors.CustomerWrongProgram(), "foreign-1")
    await acme.sale("case-1", 1_000, customer_key="User-1")
    await acme.sale("id-1", 1_000, customer_key="User-2")
    over: Any = {"call": "refund", "amount_cents": 11_000, "currency": None}
    await reject(errors.RefundExceedsSale(), "case-1", **over)

    found = await acme.store.read(lost_sales.split, acme.program_id)

    by_cause = {each.cause: each for each in found}
    amounts = {name: (each.transactions, each.first_sent, each.credited, each.lost) for name, each in by_cause.items()}
    one, two, refunded = {"EUR": 1_000}, {"EUR": 2_000}, {"USD": 11_000}
    assert amounts == {
        **dict.fromkeys(("letter_case", "processor_id"), (2, two, one, one)),
        **dict.fromkeys(("organic", "wrong_program"), (1, one, {}, one)),
        "refund_exceeds_sale": (1, refunded, {}, refunded),
    }
    assert [each.cause for each in found if each.call == "refund"] == ["refund_exceeds_sale"]
    assert by_cause["letter_case"].codes == {"customer_not_found": 2, "identifier_conflict": 1}
    assert by_cause["letter_case"].likely == {"user-1": "User-1", "user-2": "User-2"}
    assert by_cause["processor_id"].likely == {"cus_9xZ": "User-2"}
    assert by_cause["processor_id"].lost_transaction_ids == ["id-2"]
