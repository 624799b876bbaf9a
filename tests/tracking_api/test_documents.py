"""What the guides say: each test names a sentence, finds it in its guide, and follows it; and organic sales."""

from datetime import timedelta
from typing import Any

import pytest

from presentation import guides
from storage.diagnosis import explanation
from storage.lists import rejected_calls
from storage.rules.outcome import SaleOutcome
from tests import stripe_events as stripe
from tests.conftest import ROOT
from tests.documented import DOCUMENT
from tests.storage.payments.paying import connect, named, take
from tests.tracking_api.conftest import Api
from tests.world import NOW


def said(guide: str, *sentences: str) -> None:
    """Assert that a guide says something, however its lines are broken."""
    text = " ".join(guides.text(guide).split())
    assert [each for each in sentences if each not in text] == []


async def click_id_of(api: Api) -> str:
    return str((await api.click()).json()["click_id"])


async def test_a_guest_is_found_by_the_click_and_later_by_the_account_s_id_alone(api: Api):
    said(
        "cases",
        "Send `click_id` with the sale, and no `customer_key` unless the guest has an id that you will find again",
        "send its id and the `click_id` with the next sale: the service then finds them by the id alone",
    )
    click_id = await click_id_of(api)

    guest = await api.sale(transaction_id="inv-1", customer_key=None, click_id=click_id)
    account = await api.sale(transaction_id="inv-2", customer_key="user-9", click_id=click_id)
    alone = await api.sale(transaction_id="inv-3", customer_key="user-9")

    assert [each.json()["data"]["commission_cents"] for each in (guest, account, alone)] == [2_000] * 3


async def test_the_second_account_in_one_browser_gets_identifier_conflict_until_the_cookie_is_gone(api: Api):
    said(
        "cases",
        "The second account that signs up with the same cookie gets `identifier_conflict`",
        "Its sales with that click are rejected for the same reason, and its payments wait",
    )
    click_id = await click_id_of(api)
    await api.lead(click_id=click_id, customer_key="user-1")
    await connect(api.acme)
    metadata = {"svc_click_id": click_id, "svc_customer_key": "user-2"}

    lead = await api.lead(click_id=click_id, customer_key="user-2")
    sale = await api.sale(click_id=click_id, customer_key="user-2")
    paid = await take(api.acme, stripe.checkout(metadata=metadata))
    without = await api.lead(click_id=await click_id_of(api), customer_key="user-2")

    assert [each.json()["error"]["code"] for each in (lead, sale)] == ["identifier_conflict"] * 2
    assert (paid.outcome, without.status_code) == ("identifier_conflict", 200)


async def test_the_first_invoice_after_a_trial_finds_the_customer_whom_its_checkout_or_stripe_s_customer_named(
    api: Api,
):
    said("payments", "A payment in Stripe that names no customer, because its metadata does not, earns nothing")
    said("cases", "without metadata, the trial's checkout or the metadata of the Stripe customer did.")
    await connect(api.acme)
    free: dict[str, Any] = {
        "amount": 0,
        "payment_status": "no_payment_required",
        "mode": "subscription",
        "payment_intent": None,
    }

    nameless = await take(api.acme, stripe.invoice("evt_9", name="in_9", customer="cus_9"))
    trial = await take(api.acme, stripe.checkout(metadata=await named(api.acme), **free))
    paid = await take(api.acme, stripe.invoice(metadata={}))
    made = stripe.event("customer.created", {"id": "cus_2", "metadata": await named(api.acme)}, event_id="evt_8")
    await take(api.acme, made)
    by_the_customer = await take(api.acme, stripe.invoice("evt_7", name="in_7", customer="cus_2"))

    outcomes = [each.outcome for each in (nameless, trial, paid, by_the_customer)]
    assert outcomes == ["waiting", "linked", "recorded", "recorded"]


async def test_a_test_refund_completes_no_step_and_the_other_test_calls_do(api: Api):
    said("integration", "a test click, lead or sale completes its step", "a test refund completes none")
    test: dict[str, Any] = {"additional_data": {"test_mode": True}}

    async def done() -> set[str]:
        return {step["step"] for step in (await api.status())["checklist"] if step["done"]}

    await api.post("refund", {"transaction_id": "inv-1"} | test)
    after_the_refund = await done()
    landing = {"program_id": api.acme.program_id, "affiliate_url": "https://acme.example/?aff=anna"}
    for call, body in (("click", landing), ("lead", {}), ("sale", {})):
        await api.post(call, body | test)

    assert (after_the_refund, await done()) == (set(), {"test_click", "test_lead", "test_sale"})


async def test_a_flagged_key_s_headers_are_on_every_call_and_not_on_a_405(api: Api):
    said("key-rotation", "a method that they do not have gets 405 without them")
    await api.flag(NOW.replace(year=NOW.year + 1))

    for call in ("lead", "sale", "refund"):
        rejected = await api.post(call, {})
        no_method = await api.client.get(f"/api/v1/track/{call}", headers=api.keyed)
        assert ("deprecation" in rejected.headers, no_method.status_code) == (True, 405)
        assert "deprecation" not in no_method.headers


@pytest.mark.parametrize("readme", ["python", "node"])
def test_same_payload_and_customer_key_saved_are_explained_where_they_appear_and_the_beta_is_named(readme: str):
    said("cli", "The command is in beta")
    said("sdk", "The SDK is in beta")
    said("key-rotation", "`same_payload: true` (the same customer, amount and currency)")
    schemas = DOCUMENT["components"]["schemas"]
    text = (ROOT / f"sdks/{readme}/README.md").read_text(encoding="utf-8")

    assert "`same_payload` is of `duplicate_transaction`" in schemas["ErrorObject"]["description"]
    assert "`customer_key_saved` is false where" in schemas["SaleData"]["description"]
    assert "`same_payload` (false: another" in text
    assert "`customer_key_saved`" in text


async def test_a_sale_of_a_customer_whom_nobody_has_heard_of_is_organic_and_no_rejected_call(api: Api):
    store, program_id = api.acme.store, api.acme.program_id
    about: dict[str, Any] = {"customer_key": "stranger", "click_id": "stranger"}
    sale, lead = await api.sale(**about), await api.lead(**about)

    causes = await store.read(rejected_calls.by_cause, program_id)
    listed = (await api.acme.listed(rejected_calls.REJECTED_CALLS)).data
    later = await store.read(rejected_calls.count_organic, program_id, NOW + timedelta(days=1))
    explained = await store.read(explanation.explain, program_id, at=NOW, transaction_id="inv-1")

    assert {each.json()["error"]["code"] for each in (sale, lead)} == {"customer_not_found"}
    assert ([each.calls for each in causes], [each.call for each in listed]) == ([1], ["lead"])
    status = await api.status()
    assert (status["refused_calls_24h"], status["organic_sales_24h"], later) == (1, 1, 0)
    assert explained.outcome == SaleOutcome.CUSTOMER_NOT_FOUND
