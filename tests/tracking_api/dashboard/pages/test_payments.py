"""Settings, payments, in a real browser: an account connected, what it reported, and what to do about it."""

from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
from playwright.async_api import Page, expect

from tests import stripe_events as stripe
from tests.serving import PLAIN
from tests.tracking_api.dashboard.pages.conftest import Site
from tests.tracking_api.dashboard.pages.test_every_page import violations_here


async def deliver(page: Page, event: dict[str, Any]) -> None:
    """Send a signed event to the address that the page shows, as the processor does."""
    content, headers = stripe.signed(event)
    async with httpx.AsyncClient(verify=PLAIN) as client:
        answer = await client.post(await page.locator("#webhook").inner_text(), content=content, headers=headers)
    assert answer.status_code == 200


async def test_an_account_is_connected_and_a_payment_that_waits_is_recorded_for_the_customer_whom_an_owner_names(
    site: Site, axe: str
):
    page = await site.sign_in(bypass_csp=True)
    await page.goto(f"{site.program}/settings/payments")
    await page.get_by_label("Account id").fill("acct_1")
    await page.get_by_label("Webhook signing secret").fill(stripe.SECRET)
    await page.get_by_role("button", name="Connect").click()
    await expect(page.get_by_role("status")).to_contain_text("The payment account is connected")
    now = datetime.now(UTC)
    click_id = await site.acme.visitor(at=now - timedelta(hours=1))
    await deliver(page, stripe.checkout("evt_2", id="cs_2", payment_intent="pi_2", customer="cus_2", at=now))
    await deliver(page, stripe.checkout(metadata={"svc_customer_key": "user-404"}, at=now))
    await deliver(page, stripe.charge_refunded(total=500, intent="pi_old", at=now))
    await page.reload()
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
    await page.get_by_role("button", name="Disconnect").click()
    await expect(page.get_by_role("heading", level=1)).to_have_text("Disconnect?")
    await page.get_by_role("button", name="Disconnect").click()
    await expect(page.get_by_role("button", name="Connect")).to_be_visible()
