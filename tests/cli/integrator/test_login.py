"""`svc login`: a code in the terminal, an approval in the browser, a file that only its owner can read."""

import asyncio
import json

from playwright.async_api import Browser, Page, expect

from tests.cli.integrator.conftest import OLGA, PASSWORD, Shop


async def open_page(browser: Browser, address: str) -> Page:
    """Open an address and sign in as Olga on the way."""
    page = await browser.new_page()
    await page.goto(address)
    await page.get_by_label("E-mail address").fill(OLGA)
    await page.get_by_label("Password").fill(PASSWORD)
    await page.get_by_role("button", name="Sign in").click()
    return page


async def test_a_member_approves_the_login_in_the_browser(shop: Shop, browser: Browser):
    waiting = shop.start("login")
    assert waiting.stdout
    address, code = [(await asyncio.to_thread(waiting.stdout.readline)).split()[-1] for _ in range(2)]

    page = await open_page(browser, address)
    await expect(page.get_by_label("Code")).to_have_text(code)
    await page.get_by_role("button", name="Connect").click()
    await expect(page.get_by_role("heading", level=1)).to_have_text("Connected")
    said, _ = await asyncio.to_thread(waiting.communicate)

    assert (waiting.returncode, f"Logged in as {OLGA}" in said) == (0, True)
    assert shop.login.stat().st_mode & 0o777 == 0o600
    assert json.loads(shop.login.read_text())["token"] not in said
    assert (await shop.svc("programs", "list", "--json")).json["data"][0]["id"] == shop.acme.program_id


async def test_a_rejected_login_stores_nothing(shop: Shop, browser: Browser):
    waiting = shop.start("login")
    assert waiting.stdout
    page = await open_page(browser, (await asyncio.to_thread(waiting.stdout.readline)).split()[-1])

    await page.get_by_role("button", name="Cancel").click()
    await asyncio.to_thread(waiting.communicate)

    assert waiting.returncode == 1
    assert not shop.login.exists()


async def test_logging_out_ends_the_session_and_a_command_that_needs_one_says_how_to_get_it(shop: Shop):
    missing = await shop.svc("programs", "list", "--json")
    unreachable = await shop.svc("login", "--base-url", "http://127.0.0.1:9", "--json")
    await shop.sign_in()
    kept = shop.login.read_text()

    done = await shop.svc("logout")

    assert (done.code, shop.login.exists()) == (0, False)
    shop.login.write_text(kept)
    assert (await shop.svc("programs", "list")).code == 1
    assert (missing.code, missing.json["error"]["code"], "svc login" in missing.stderr) == (4, "not_logged_in", True)
    assert (unreachable.code, unreachable.json["error"]["code"]) == (3, "service_unreachable")
