"""Settings in a real browser: the payment account, connected assistants, and the chosen theme."""

from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
from playwright.async_api import Page, Route, expect

from tests import stripe_events as stripe
from tests.serving import PLAIN
from tests.tracking_api.authorization.consenting import ask, consent, fetch_tokens
from tests.tracking_api.dashboard.pages.conftest import MAX, Site
from tests.tracking_api.dashboard.pages.test_every_page import violations_here


async def deliver(page: Page, event: dict[str, Any]) -> None:
    """Send a signed event to the address that the page shows, as the processor does."""
    content, headers = stripe.signed(event)
    async with httpx.AsyncClient(verify=PLAIN) as client:
        answer = await client.post(await page.locator("#webhook").inner_text(), content=content, headers=headers)
    assert answer.status_code == 200


async def ground(page: Page) -> str:
    colour: str = await page.evaluate("getComputedStyle(document.body).backgroundColor")
    return colour


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
    await page.get_by_role("button", name="Disconnect").click()
    await expect(page.get_by_role("heading", level=1)).to_have_text("Disconnect?")
    await page.get_by_role("button", name="Disconnect").click()
    await expect(page.get_by_role("button", name="Connect")).to_be_visible()


HOSTILE = "<script>document.title='taken'</script>\u202e gnp.exe"


SHOWN = "<script>document.title='taken'</script> gnp.exe"


class Callback:
    """The assistant's own address, to which the browser goes back; nothing leaves this machine."""

    def __init__(self) -> None:
        self.received: dict[str, str] = {}

    async def watch(self, page: Page) -> None:
        await page.route("https://assistant.example/**", self._take)

    async def _take(self, route: Route) -> None:
        self.received = {name: each[0] for name, each in parse_qs(urlsplit(route.request.url).query).items()}
        await route.fulfill(status=200, content_type="text/html", body="<h1>Back at your assistant</h1>")


async def test_a_member_connects_an_assistant_to_the_programs_they_choose_and_an_owner_disconnects_it(site: Site):
    page, callback = await site.sign_in(MAX), Callback()
    await callback.watch(page)
    asked = await ask(site.server.base_url, client_name=HOSTILE)
    await page.goto(asked.page)
    await expect(page.get_by_role("heading", level=1)).to_have_text(f"Connect {SHOWN}?")
    await page.get_by_role("checkbox", name="Acme partners").uncheck()
    await page.get_by_role("button", name="Connect").click()
    await expect(page.get_by_role("alert")).to_contain_text("Choose at least one of your programs")
    await page.goto("/assistants")
    await expect(page.get_by_text("No assistant is connected")).to_be_visible()
    await page.goto(asked.page)
    await page.get_by_role("button", name="Cancel").click()
    await expect(page.get_by_role("heading", name="Back at your assistant")).to_be_visible()
    assert (callback.received["error"], "code" in callback.received) == ("access_denied", False)

    shown = await consent(page, asked.page)
    await expect(page.get_by_role("heading", name="Back at your assistant")).to_be_visible()

    assert "Access is granted to\nassistant.example" in shown
    assert f"Acts for\n{MAX}" in shown
    assert (callback.received["state"], callback.received["iss"]) == ("s", site.server.base_url)
    given = await fetch_tokens(site.server.base_url, asked.client_id, callback.received["code"])
    olga = await site.sign_in()
    await olga.get_by_label("Account: ").click()
    await olga.get_by_role("link", name="Assistants").click()
    await expect(olga.get_by_role("listitem").filter(has_text=SHOWN)).to_contain_text(f"connected by {MAX}")
    await olga.get_by_role("button", name="Disconnect").click()
    await olga.get_by_role("button", name="Disconnect").click()

    await expect(olga.get_by_text("The assistant is disconnected")).to_be_visible()
    await expect(olga.get_by_text("No assistant is connected")).to_be_visible()
    await olga.goto(f"{site.program}/settings/audit-log")
    await expect(olga.get_by_role("main")).to_contain_text("Assistant disconnected")
    assert given["access_token"] not in await olga.content()


async def test_a_chosen_theme_outranks_the_device_and_menus_close_with_escape(site: Site):
    page = await site.sign_in(color_scheme="light")
    light = await ground(page)
    await page.goto("/account")
    await page.get_by_label("Theme").select_option("dark")
    await page.get_by_role("button", name="Save").click()
    await expect(page.get_by_role("status")).to_be_visible()
    dark = await ground(page)
    await page.emulate_media(color_scheme="dark")
    await page.goto("/sign-in")

    assert (light, dark) == ("rgb(246, 247, 249)", "rgb(16, 18, 24)")
    assert await ground(page) == dark
    await page.goto(f"{site.program}/settings")
    summary = page.get_by_label("Account: ")
    await summary.click()
    await page.keyboard.press("Escape")
    await expect(page.get_by_role("button", name="Sign out")).to_be_hidden()
    await expect(summary).to_be_focused()
