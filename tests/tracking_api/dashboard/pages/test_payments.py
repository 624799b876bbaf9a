"""Settings, payments: an account connected on the page, and what it reported."""

from datetime import UTC, datetime, timedelta

import httpx
from playwright.async_api import expect

from tests import stripe_events as stripe
from tests.serving import PLAIN
from tests.tracking_api.dashboard.pages.conftest import MAX, Site
from tests.tracking_api.dashboard.pages.test_every_page import violations_here


async def test_an_account_is_connected_and_its_payments_are_listed(site: Site):
    page = await site.sign_in()
    await page.goto(f"{site.program}/settings/payments")
    before = await page.locator("#webhook").inner_text()
    await expect(
        page.get_by_role("listitem").filter(has_text="checkout.session.async_payment_succeeded")
    ).to_be_visible()
    await page.get_by_label("Account id").fill("acct_1")
    await page.get_by_label("Webhook signing secret").fill(stripe.SECRET)

    await page.get_by_role("button", name="Connect").click()

    await expect(page.get_by_role("status")).to_contain_text("The payment account is connected")
    await expect(page.get_by_text("No signed event has arrived yet")).to_be_visible()
    content, headers = stripe.signed(stripe.checkout(metadata={"svc_click_id": await site.acme.visitor()}))
    address = await page.locator("#webhook").inner_text()
    async with httpx.AsyncClient(verify=PLAIN) as client:
        answer = await client.post(address, content=content, headers=headers)
    assert (answer.status_code, address) == (200, before)
    await page.reload()
    await expect(page.get_by_text("Stripe's signed events arrive")).to_be_visible()
    await expect(page.get_by_role("row", name="checkout.session.completed")).to_be_visible()
    assert stripe.SECRET not in await page.content()

    await page.get_by_role("button", name="Disconnect").click()
    await expect(page.get_by_role("heading", level=1)).to_have_text("Disconnect?")
    await page.get_by_role("button", name="Disconnect").click()

    await expect(page.get_by_role("button", name="Connect")).to_be_visible()


async def test_an_error_does_not_repeat_a_secret(site: Site):
    page = await site.sign_in()
    await page.goto(f"{site.program}/settings/payments")
    await page.get_by_label("Account id").fill("acct_1")
    await page.get_by_label("Webhook signing secret").fill("short")

    await page.get_by_role("button", name="Connect").click()

    await expect(page.get_by_role("alert")).to_contain_text("Webhook secret")
    await expect(page.get_by_label("Account id")).to_have_value("acct_1")
    await expect(page.get_by_label("Webhook signing secret")).to_have_value("")


async def test_a_member_reads_payment_events_and_cannot_connect_an_account(site: Site):
    page = await site.sign_in(MAX)

    await page.goto(f"{site.program}/settings/payments")

    await expect(page.get_by_role("heading", name="No payment events")).to_be_visible()
    await expect(page.get_by_role("button", name="Connect")).to_have_count(0)


async def test_a_possible_duplicate_is_decided_on_the_page(site: Site):
    click_id = await site.sell()
    page = await site.sign_in()
    await page.goto(f"{site.program}/settings/payments")
    await page.get_by_label("Account id").fill("acct_1")
    await page.get_by_label("Webhook signing secret").fill(stripe.SECRET)
    await page.get_by_role("button", name="Connect").click()
    await expect(page.get_by_role("status")).to_be_visible()
    now = datetime.now(UTC)
    content, headers = stripe.signed(stripe.checkout(metadata={"svc_click_id": click_id}, at=now))
    async with httpx.AsyncClient(verify=PLAIN) as client:
        answer = await client.post(await page.locator("#webhook").inner_text(), content=content, headers=headers)
    assert answer.json()["outcome"] == "held_as_duplicate"
    await page.goto(f"{site.program}/settings/payments?outcome=held_as_duplicate")

    await page.get_by_role("button", name="Same sale").click()
    await page.get_by_role("button", name="Same sale", exact=True).click()

    await expect(page.get_by_role("status")).to_contain_text("the sale that your server reported")
    await expect(page.locator("tbody")).to_contain_text("Same sale")


async def test_a_waiting_payment_says_why_and_is_recorded_for_the_customer_whom_an_owner_names(site: Site, axe: str):
    page = await site.sign_in(bypass_csp=True)
    await page.goto(f"{site.program}/settings/payments")
    await page.get_by_label("Account id").fill("acct_1")
    await page.get_by_label("Webhook signing secret").fill(stripe.SECRET)
    await page.get_by_role("button", name="Connect").click()
    await expect(page.get_by_role("status")).to_be_visible()
    now = datetime.now(UTC)
    click_id = await site.acme.visitor(at=now - timedelta(hours=1))
    organic = stripe.checkout("evt_2", id="cs_2", payment_intent="pi_2", customer="cus_2", at=now)
    waiting = stripe.checkout(metadata={"svc_customer_key": "user-404"}, at=now)
    async with httpx.AsyncClient(verify=PLAIN) as client:
        for event in (organic, waiting):
            content, headers = stripe.signed(event)
            await client.post(await page.locator("#webhook").inner_text(), content=content, headers=headers)
    refund = stripe.charge_refunded(total=500, intent="pi_old", at=now)
    async with httpx.AsyncClient(verify=PLAIN) as client:
        content, headers = stripe.signed(refund)
        await client.post(await page.locator("#webhook").inner_text(), content=content, headers=headers)
    await page.goto(f"{site.program}/settings/payments")
    await page.get_by_role("link", name="To do").click()
    await expect(page.get_by_text("1 organic payments")).to_be_visible()
    row = page.get_by_role("row", name="user-404")
    await expect(row).to_contain_text("belongs to no lead")
    old = page.get_by_role("row", name="pi_old")
    await expect(old).to_contain_text("before the account was connected")
    assert await violations_here(page, axe) == []
    await row.get_by_label("or click id").fill(click_id)

    await row.get_by_role("button", name="Try again").click()

    await expect(page.get_by_role("status")).to_contain_text("recorded as a sale")
    await page.get_by_role("link", name="To do").click()
    await old.get_by_label("Transaction id of the sale").fill("pi_1")
    await old.get_by_role("button", name="Refund this sale").click()
    await page.get_by_role("button", name="Refund this sale", exact=True).click()
    await expect(page.get_by_role("status")).to_contain_text("The refund is recorded")
    await page.get_by_role("link", name="To do").click()
    await expect(page.get_by_role("heading", name="No payment events")).to_be_visible()
