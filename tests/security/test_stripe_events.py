"""Signed events that no honest account sends: rejected or recorded, and none breaks the service or its books."""

import copy
import json
import time
from collections.abc import AsyncIterator, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from stripe import WebhookSignature

from configuration import Configuration
from storage.checks import books
from storage.tables import payment_events
from tests import stripe_events as stripe
from tests.storage.payments import paying
from tests.tracking_api.conftest import Api
from tests.world import NOW, World

pytestmark = pytest.mark.anyio
CONFIGURATION = Configuration(secret_key="a secret key")
NEW_YEAR_9999 = int(datetime(9999, 1, 1, tzinfo=UTC).timestamp())
ODD_NUMBERS = [-1, 0, 1, 1.5, True, 10**12, 10**12 + 1, 2**63, 10**30, 10**400, NEW_YEAR_9999, -62_135_596_800]
ODD_TEXTS = ["", "x" * 256, "a\x00b", "\ud800", "9" * 400, "svc\u202e", "usd", "\u212aRW", "in_1", "pi_1"]
ODD: list[Any] = [*ODD_NUMBERS, *ODD_TEXTS, None, [], {}, [[]], {"id": {}}, {"data": [None]}, {"data": 5}]


class Webhook(Api):
    """Acme's connected account, which delivers what a test signs."""

    click_id: str  # of a visitor who is about to pay

    async def deliver(self, content: bytes, headers: Any) -> tuple[int, str]:
        path = f"/api/v1/payments/stripe/{self.acme.program_id}"
        response = await self.client.post(path, content=content, headers=headers)
        body = response.json()
        return response.status_code, body["outcome"] if response.status_code == 200 else body["error"]["code"]

    async def send(self, event: Any) -> tuple[int, str]:
        return await self.deliver(*stripe.signed(event))


@pytest.fixture
async def webhook(acme: World) -> AsyncIterator[Webhook]:
    """Acme's account, connected, and a visitor of Anna's who is about to pay."""
    await paying.connect(acme, secret=stripe.SECRET, key="a secret key")
    made = Webhook(acme, CONFIGURATION)
    made.click_id = await acme.visitor()
    async with made.client:
        yield made


def signed(content: str) -> tuple[bytes, dict[str, str]]:
    signature = WebhookSignature.generate_signature_header(content, stripe.SECRET)
    return content.encode(), {"Content-Type": "application/json", "Stripe-Signature": signature}


def moment(**ago: float) -> int:
    return int((NOW - timedelta(**ago)).timestamp())


async def test_an_event_of_1970_or_of_the_future_or_with_an_amount_beyond_the_api_s_is_rejected(webhook: Webhook):
    metadata = {"svc_click_id": webhook.click_id}
    largest = stripe.checkout(metadata=metadata, amount=10**12)
    refunded = stripe.charge_refunded(total=0)

    for at in [1, moment(days=367), moment(minutes=-6), NEW_YEAR_9999, -(10**11), 10**30, True]:
        invoice = stripe.invoice(metadata=metadata, status_transitions={"paid_at": at})
        assert await webhook.send(largest | {"created": at}) == (400, "invalid_json"), at
        assert await webhook.send(invoice) == (400, "invalid_json"), at
    for amount in [10**12 + 1, 2**63, 10**400, -1, 1.5, "100", None]:
        paid = stripe.checkout(metadata=metadata, amount_total=amount)
        refunded["data"]["object"]["amount_refunded"] = amount
        assert await webhook.send(paid) == (400, "invalid_json"), amount
        assert await webhook.send(refunded) == (400, "invalid_json"), amount

    assert await webhook.count(payment_events) == 0
    assert await webhook.send(largest) == (200, "recorded")


async def test_a_deeply_nested_or_very_wide_event_is_rejected(webhook: Webhook):
    event = json.dumps(stripe.checkout())
    payments = [{"payment": {"payment_intent": f"pi_{n}"}} for n in range(5_000)]
    wide = stripe.invoice(metadata={"svc_click_id": webhook.click_id}, payments={"data": payments})

    assert await webhook.send(wide) == (400, "invalid_json")

    for depth in [190, 1_000, 100_000]:
        nested = event.replace('"metadata": {}', f'"metadata": {"[" * depth}{"]" * depth}')
        assert await webhook.deliver(*signed(nested)) == (400, "invalid_json"), depth


async def test_a_malformed_signature_and_a_body_that_is_no_event_are_rejected(webhook: Webhook):
    now = f"t={int(time.time())}"

    for header in [f"{now},v1=\xe9", f"t={'9' * 5_000},v1=a", "t=,v1=", f"{now},v1=a,=", "\xff", ""]:
        sent = {b"Content-Type": b"application/json", b"Stripe-Signature": header.encode("latin-1")}
        assert await webhook.deliver(b"{}", sent) == (400, "invalid_signature"), header
    for content in ["[]", "5", "null", '"evt"', "{}", '{"id": "evt_1"}', "NaN", '{"id": "\\ud800"}']:
        assert await webhook.deliver(*signed(content)) == (400, "invalid_json"), content


EVENTS = [
    stripe.intent(metadata={"svc_click_id": "{click}"}),
    stripe.intent(kind="charge"),
    stripe.customer({"svc_customer_key": "user-1"}),
    stripe.checkout(),
    stripe.invoice(),
    stripe.invoice(old_shape=True, renewal=True),
    stripe.invoice_payment(),
    stripe.charge_refunded(total=100),
    stripe.refund_updated(amount=100),
    stripe.dispute(),
    stripe.dispute_closed("won"),
]


def paths(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the way to every member of an event."""
    members = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, inner in members:
        yield (*path, name)
        yield from paths(inner, (*path, name))


@st.composite
def odd_events(draw: st.DrawFn) -> dict[str, Any]:
    """Draw one of Stripe's events with a few members changed to what Stripe never sends, or left out."""
    event = copy.deepcopy(draw(st.sampled_from(EVENTS)))
    event["livemode"] = draw(st.booleans())
    event["id"] = f"evt_{draw(st.integers(0, 10**9))}"
    for _ in range(draw(st.integers(1, 3))):
        *way, name = draw(st.sampled_from(list(paths(event))))
        parent = event
        for step in way:
            parent = parent[step]
        if draw(st.booleans()) or isinstance(parent, list):
            parent[name] = copy.deepcopy(draw(st.sampled_from(ODD)))
        else:
            parent.pop(name)
    return event


@pytest.mark.both_databases
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(events=st.lists(odd_events(), min_size=1, max_size=4))
async def test_no_signed_event_whatsoever_breaks_the_service_or_its_books(webhook: Webhook, events: list[Any]):
    for event in events:
        found = event.get("data")
        if isinstance(found, dict) and isinstance(found.get("object"), dict):
            found["object"].setdefault("metadata", {"svc_click_id": webhook.click_id})
        status, _ = await webhook.send(event)
        assert status in {200, 400}, json.dumps(event)[:2_000]

    assert await webhook.acme.store.read(books.run) == []
