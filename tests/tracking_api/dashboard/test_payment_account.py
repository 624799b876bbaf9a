"""The payment account: connected by owners, its secrets never shown and never stored in the clear; and its webhook."""

from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
from sqlalchemy import select

from storage.tables import payment_accounts
from tests import stripe_events as stripe
from tests.tracking_api.dashboard.conftest import MAX, Dashboard

ACCOUNT = {"provider": "stripe", "account_id": "acct_1", "webhook_secret": stripe.SECRET}
TURNED = "whsec_the_next_one_987654"
REJECTED = (400, "invalid_signature")


async def connect(dashboard: Dashboard, **changed: str) -> httpx.Response:
    return await dashboard.call("PUT", "./payment-account", json=ACCOUNT | changed)


async def deliver(
    dashboard: Dashboard, content: bytes, headers: dict[str, str], program: object = None
) -> httpx.Response:
    where = f"/api/v1/payments/stripe/{program or dashboard.acme.program_id}"
    return await dashboard.client.post(where, content=content, headers=headers)


def said(answer: httpx.Response) -> tuple[int, str]:
    """Return the status with the outcome or the error's code."""
    body = answer.json()
    return answer.status_code, body.get("outcome") or body["error"]["code"]


async def outcome(dashboard: Dashboard, *, secret: str = stripe.SECRET, **options: Any) -> tuple[int, str]:
    """Deliver a signed checkout and return what was said."""
    return said(await deliver(dashboard, *stripe.signed(stripe.checkout(), secret=secret, **options)))


async def test_an_owner_connects_an_account_and_its_secret_is_stored_encrypted_and_never_shown(dashboard: Dashboard):
    async def is_connected() -> bool:
        status = await dashboard.get("/api/v1/cli/status", dashboard.acme.key)
        return bool(status.json()["data"]["payment_account_connected"])

    before = await is_connected()
    connected = await connect(dashboard)

    assert connected.json() == {
        "provider": "stripe",
        "account_id": "acct_1",
        "connected_at": "2026-05-20T12:00:00Z",
        "webhook_secrets": 1,
        "webhook_url": f"http://127.0.0.1:8000/api/v1/payments/stripe/{dashboard.acme.program_id}",
    }
    assert (await dashboard.get("./payment-account")).json() == connected.json()
    assert (before, await is_connected()) == (False, True)
    audit = (await dashboard.get("./audit-log")).text
    assert "payment_account.connect" in audit
    sealed = select(payment_accounts.c.sealed_secrets)
    stored = await dashboard.acme.store.read(lambda connection: str(connection.execute(sealed).scalar_one()))
    assert stripe.SECRET not in audit + connected.text + stored


async def test_what_is_wrong_is_named(dashboard: Dashboard):
    for field, value in (("provider", "paypal"), ("webhook_secret", "x"), ("account_id", "")):
        rejected = await connect(dashboard, **{field: value})
        assert [each["field"] for each in rejected.json()["error"]["fields"]] == [field]


async def test_both_secrets_are_accepted_during_a_roll_over_and_none_once_disconnected(dashboard: Dashboard):
    await connect(dashboard)
    rolled = await connect(dashboard, webhook_secret=TURNED)

    assert rolled.json()["webhook_secrets"] == 2
    assert await outcome(dashboard) == (200, "waiting")
    assert await outcome(dashboard, secret=TURNED) == (200, "repeated")
    await connect(dashboard, webhook_secret="whsec_a_third_secret")
    assert await outcome(dashboard) == REJECTED
    assert (await dashboard.call("DELETE", "./payment-account")).json() == {"success": True}
    assert (await dashboard.get("./payment-account")).status_code == 404
    assert await outcome(dashboard, secret="whsec_a_third_secret") == REJECTED


async def test_a_signed_checkout_is_a_sale_of_the_partner(dashboard: Dashboard):
    await connect(dashboard)
    metadata = {"svc_click_id": await dashboard.acme.visitor()}

    answer = await deliver(dashboard, *stripe.signed(stripe.checkout(metadata=metadata)))

    assert answer.json() == {"received": True, "outcome": "recorded", "transaction_id": "pi_1"}
    commission = (await dashboard.get("./commissions")).json()["data"][0]
    assert (commission["partner"]["code"], commission["amount_cents"]) == ("anna", 2_000)


async def test_a_wrong_signature_and_a_program_without_an_account_are_rejected_alike(dashboard: Dashboard):
    await connect(dashboard)
    content, headers = stripe.signed(stripe.checkout())
    cut = headers["Stripe-Signature"][:-1]

    answers = [
        await deliver(dashboard, content[:-1], headers),
        await deliver(dashboard, content + b" ", headers),
        *[await deliver(dashboard, content, headers | {"Stripe-Signature": each}) for each in (cut, "t=x,v1=y")],
        await deliver(dashboard, content, {"Content-Type": "application/json"}),
        *[await deliver(dashboard, content, headers, program) for program in ("0", "99", "x", "9" * 400)],
    ]

    assert [said(answer) for answer in answers] == [REJECTED] * 9
    assert await outcome(dashboard, at=datetime.now(UTC) - timedelta(seconds=301)) == REJECTED
    assert await outcome(dashboard, secret="whsec_somebody_elses") == REJECTED


async def test_an_invalid_event_is_rejected_and_an_unknown_type_is_accepted(dashboard: Dashboard):
    await connect(dashboard)
    found = stripe.event("customer.created", {"id": "cus_1"}, event_id="evt_9")

    unknown = await deliver(dashboard, *stripe.signed(found))
    broken = await deliver(dashboard, *stripe.signed(stripe.checkout(amount_total="much")))

    assert (said(unknown), said(broken)) == ((200, "ignored"), (400, "invalid_json"))


async def test_members_read_payment_events_and_possible_duplicates(dashboard: Dashboard):
    await connect(dashboard)
    click_id = await dashboard.acme.visitor()
    await dashboard.acme.lead(click_id, "user-1")
    await dashboard.acme.sale("order-1")
    await deliver(dashboard, *stripe.signed(stripe.checkout(metadata={"svc_click_id": click_id})))
    await deliver(dashboard, *stripe.signed(stripe.charge_refunded(total=100, intent="pi_other")))

    listed = (await dashboard.get("./payment-events", MAX)).json()["data"]
    first = (await dashboard.get("./payment-events", MAX, limit=1)).json()
    rest = (await dashboard.get("./payment-events", MAX, cursor=first["next_cursor"])).json()["data"]

    rows = [(each["type"], each["outcome"], each["amount_cents"]) for each in listed]
    assert rows == [("charge.refunded", "waiting", 100), ("checkout.session.completed", "held_as_duplicate", 10_000)]
    assert [*first["data"], *rest] == listed
    only = (await dashboard.get("./payment-events", MAX, outcome="held_as_duplicate")).json()["data"]
    assert [each["transaction_id"] for each in only] == ["pi_1"]


async def test_an_event_of_the_processors_test_mode_is_recorded_as_a_test(dashboard: Dashboard):
    await connect(dashboard)
    paid = stripe.checkout(metadata={"svc_click_id": await dashboard.acme.visitor()})

    await deliver(dashboard, *stripe.signed(paid | {"livemode": False}))
    await deliver(dashboard, *stripe.signed(stripe.charge_refunded(total=100)))

    listed = (await dashboard.get("./payment-events")).json()["data"]
    assert [(each["outcome"], each["is_test"]) for each in listed] == [("waiting", False), ("test", True)]
    events = (await dashboard.get("./events")).json()["data"]
    logged = (await dashboard.get("./tracking-log")).json()["data"]
    assert [(each["kind"], each["is_test"]) for each in events] == [("test", True), ("click", False)]
    assert [(each["call"], each["event_id"]) for each in logged] == [("sale", events[0]["id"])]


async def test_an_owner_tries_a_waiting_payment_again_and_dismisses_another(dashboard: Dashboard):
    await connect(dashboard)
    for name in ("in_1", "in_2"):
        event = stripe.invoice(f"evt_{name}", name=name, metadata={"svc_customer_key": f"user-{name}"}, customer=name)
        await deliver(dashboard, *stripe.signed(event))
    waiting = (await dashboard.get("./payment-events", outcome="unknown_customer")).json()["data"]
    paths = [f"./payment-events/{each['id']}" for each in waiting]

    unknown = await dashboard.patch(paths[0], decision="retry")
    retried = await dashboard.patch(paths[0], decision="retry", click_id=await dashboard.acme.visitor())
    dismissed = await dashboard.patch(paths[1], decision="dismiss")

    assert [each["customer_key"] for each in waiting] == ["user-in_2", "user-in_1"]
    assert said(unknown) == (400, "customer_not_found")
    assert [each.json() for each in (retried, dismissed)] == [
        {"success": True, "outcome": "recorded"},
        {"success": True, "outcome": "not_referred"},
    ]
