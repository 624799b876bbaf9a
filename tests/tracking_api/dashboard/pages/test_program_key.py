"""The program key on its page: replaced with a warning, shown once, and nowhere again."""

from datetime import timedelta

from playwright.async_api import expect

from storage.access import program_keys
from tests.tracking_api.dashboard.pages.conftest import Site
from tests.tracking_api.dashboard.pages.test_every_page import violations_here
from tests.world import NOW

STATUS = "/api/v1/track/refund"


async def test_a_new_program_asks_for_its_key_and_a_partner_first_and_needs_no_rates(site: Site, axe: str):
    page = await site.sign_in(bypass_csp=True)
    await page.goto("/programs/new")
    await page.get_by_label("Name").fill("Oslo")
    await page.get_by_label("Domain").fill("oslo.example")
    await page.get_by_label("Currency").select_option("NOK")
    await page.get_by_role("button", name="Create program").click()
    await expect(page.get_by_role("heading", name="0 of 9 steps done")).to_be_visible()
    assert await violations_here(page, axe) == []

    await page.get_by_role("link", name="Create the key").click()
    await expect(page.locator(".card.danger")).to_have_count(0)
    await page.get_by_role("button", name="Create the key").click()
    await expect(page.locator("#secret")).to_contain_text("aff_")
    await expect(page.get_by_text("The old key no longer works")).to_have_count(0)
    await page.get_by_role("link", name="I have stored it").click()

    await expect(page.locator(".checklist li.done h3")).to_contain_text(["Create the program key"])
    await expect(page.get_by_role("link", name="Add a partner")).to_be_visible()
    await page.goto(page.url.replace("checklist", "api-keys"))
    await expect(page.locator(".card.danger")).to_contain_text("There is no overlap")


async def test_a_new_key_is_shown_once_and_the_old_one_is_rejected(site: Site):
    page = await site.sign_in()
    await page.goto(f"{site.program}/settings/api-keys")
    await page.get_by_label("I am ready to deploy the new key at once").check()

    await page.get_by_role("button", name="Generate a new key").click()

    new = await page.locator("#secret").inner_text()
    body = {"transaction_id": "nothing"}
    assert new.startswith("aff_")
    assert (await site.call(STATUS, body, new)).json()["error"]["code"] == "transaction_not_found"
    assert (await site.call(STATUS, body)).json()["error"]["code"] == "invalid_key"
    await page.get_by_role("link", name="I have stored it").click()
    await expect(page.get_by_role("heading", name="Generate a new key")).to_be_visible()
    assert new not in await page.content()
    assert await page.locator("#masked").inner_text() == f"aff_••••{new[-4:]}"


async def test_a_key_page_that_is_sent_again_replaces_nothing_twice(site: Site):
    page = await site.sign_in()
    await page.goto(f"{site.program}/settings/api-keys")
    await page.get_by_label("I am ready to deploy the new key at once").check()
    await page.get_by_role("button", name="Generate a new key").click()
    new = await page.locator("#secret").inner_text()

    await page.reload()

    await expect(page.get_by_role("alert")).to_contain_text("This key was already replaced")
    answer = await site.call(STATUS, {"transaction_id": "nothing"}, new)
    assert answer.json()["error"]["code"] == "transaction_not_found"


async def test_a_flagged_key_is_announced_on_every_page(site: Site):
    deadline = NOW + timedelta(days=36_500)
    await site.acme.store.write(program_keys.flag, site.acme.program_id, rotate_by=deadline, at=NOW)
    page = await site.sign_in()

    await page.goto(f"{site.program}/partners")

    await expect(page.get_by_role("note")).to_contain_text("Replace the program key.")
    await expect(page.get_by_role("link", name="Generate a new key")).to_be_visible()
