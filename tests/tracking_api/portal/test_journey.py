"""A partner on a phone, in Chromium: invited, signed in, a sale within a second, and how they are paid."""

from datetime import UTC, datetime
from typing import Any

from playwright.async_api import Page, ViewportSize, expect

from tests.tracking_api.dashboard.pages.conftest import Site, site

__all__ = ["site"]
PHONE: dict[str, Any] = {"viewport": ViewportSize(width=390, height=844)}


async def invited(site: Site) -> str:
    """Return the link that Olga gets for Anna."""
    olga = await site.sign_in()
    await olga.goto(f"{site.program}/partners/{site.acme.anna}")
    return await invite(olga)


async def invite(page: Page) -> str:
    """Return the link that the page of a partner makes for them."""
    await page.get_by_role("button", name="Invite to the portal").click()
    return await page.locator("#portal-link").inner_text()


async def enter(page: Page, link: str) -> None:
    await page.goto(link)
    await page.get_by_role("button", name="Sign in").click()
    await expect(page.get_by_role("heading", name="Balance")).to_be_visible()


async def test_a_partner_signs_in_on_a_phone_sees_a_sale_within_a_second_and_is_asked_how_they_are_paid(
    site: Site,
) -> None:
    phone = await site.visit(**PHONE)
    await enter(phone, await invited(site))
    await site.sell()

    sold = datetime.now(UTC)
    await phone.get_by_role("link", name="Home").click()
    await expect(phone.locator(".feed")).to_contain_text("the shop waits for refunds")
    seen = datetime.now(UTC)

    assert (seen - sold).total_seconds() < 1
    await expect(phone.locator(".kpis")).to_contain_text("$20.00")
    await phone.get_by_role("link", name="Ask about a sale").click()
    await phone.get_by_label("Day of the sale").fill("2026-05-01")
    await phone.get_by_label("Order number").fill("order-7")
    await phone.get_by_role("button", name="Ask").click()
    await expect(phone.locator(".feed")).to_contain_text("waits for an answer")
    await phone.get_by_role("link", name="Home").click()
    await phone.get_by_role("link", name="choose how you are paid").click()
    await phone.get_by_label("E-mail address of the account").fill("anna@partners.example")
    await expect(phone.get_by_label("IBAN", exact=True)).to_be_hidden()
    await phone.get_by_role("button", name="Save", exact=True).click()
    await expect(phone.locator("#method ~ p").first).to_contain_text("PayPal a***@partners.example")
