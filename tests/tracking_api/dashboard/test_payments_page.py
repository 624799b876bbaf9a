"""Settings, payments: an account connected on the page, and decisions on payments that do not count."""

import httpx

from tests import stripe_events as stripe
from tests.storage.payments import paying
from tests.tracking_api.dashboard.conftest import Dashboard
from tests.tracking_api.dashboard.reading import follow, form_of, send, words


async def test_an_account_is_connected_and_its_secret_is_not_repeated(dashboard: Dashboard, olga: httpx.AsyncClient):
    path = f"{dashboard.pages}/settings/payments"

    rejected = await send(olga, path, "Connect", account_id="acct_1", webhook_secret="short")
    _, kept = form_of(rejected.text, "Connect")
    connected = await follow(olga, await send(olga, path, "Connect", account_id="acct_1", webhook_secret=stripe.SECRET))
    await paying.take(dashboard.acme, stripe.checkout(metadata={"svc_click_id": await dashboard.acme.visitor()}))
    reported = (await olga.get(path)).text

    assert (rejected.status_code, 'href="#webhook_secret"' in rejected.text) == (400, True)
    assert (kept["account_id"], kept["webhook_secret"]) == (["acct_1"], [""])
    assert "The payment account is connected" in connected
    assert "No signed event has arrived yet" in connected
    assert "checkout.session.async_payment_succeeded" in connected
    assert "Stripe's signed events arrive" in words(reported)
    assert "checkout.session.completed" in words(reported.partition("<tbody")[2])
    assert stripe.SECRET not in reported


async def test_a_possible_duplicate_is_decided_on_the_page(dashboard: Dashboard, olga: httpx.AsyncClient):
    acme, path = dashboard.acme, f"{dashboard.pages}/settings/payments?outcome=held_as_duplicate"
    await paying.connect(acme)
    click_id = await acme.visitor()
    await acme.lead(click_id, "user-1")
    await acme.sale("order-1")
    await paying.take(acme, stripe.checkout(metadata={"svc_click_id": click_id}))

    asked = await send(olga, path, "Same sale: pi_1")
    action, form = form_of(asked.text, "Same sale")
    decided = await follow(olga, await olga.post(action, data=form))

    assert "the sale that your server reported" in decided
    assert "Same sale" in decided.partition("Received")[2]
