"""The sandbox on its page: opened, tried, emptied, and marked wherever it is shown."""

from playwright.async_api import expect

from tests.tracking_api.dashboard.pages.conftest import MAX, Site
from tests.world import LANDING_PAGE


async def test_an_owner_opens_a_sandbox_and_empties_it(site: Site):
    page = await site.sign_in()
    await page.goto(f"{site.program}/settings/sandbox")
    await page.get_by_role("button", name="Open a sandbox").click()
    number = (await page.locator("#secret").inner_text()).split()[0].removeprefix("SERVICE_PROGRAM_ID=")
    click = {"program_id": int(number), "affiliate_url": LANDING_PAGE.replace("anna", "sandbox")}
    assert (await site.call("/api/v1/track/click", click)).json()["success"]
    await page.get_by_role("link", name="Go to the sandbox").click()
    await expect(page.get_by_label("Program", exact=True).get_by_text("Sandbox", exact=True)).to_be_visible()
    await page.goto(f"{site.program}/settings/sandbox")

    await page.get_by_label("Delete every event of the sandbox").check()
    await page.get_by_role("button", name="Delete events").click()

    await expect(page.get_by_role("status")).to_contain_text("The sandbox has no events any more")


async def test_a_member_sees_what_a_sandbox_is_and_no_button(site: Site):
    page = await site.sign_in(MAX)
    await page.goto(f"{site.program}/settings/sandbox")

    await expect(page.get_by_text("Only an owner of the workspace")).to_be_visible()
    await expect(page.get_by_role("button", name="Open a sandbox")).to_have_count(0)
