"""The page of agent keys' caps: an owner saves what they typed, and a wrong value is shown beside its field."""

from playwright.async_api import expect

from tests.tracking_api.dashboard.pages.conftest import Site


async def test_an_owner_sets_caps_and_freezes_settings(site: Site):
    page = await site.sign_in()
    await page.goto(f"{site.program}/settings/agent-caps")
    await page.get_by_label("Highest commission per lead").fill("2.50")
    await page.get_by_role("checkbox", name="Domain", exact=True).check()
    await page.get_by_label("Approve and pay with two different keys").check()
    await page.get_by_label("Highest rate").fill("200")
    await page.get_by_role("button", name="Save caps").click()
    await expect(page.get_by_role("alert")).to_contain_text("Highest rate")
    await page.get_by_label("Highest rate").fill("30")

    await page.get_by_role("button", name="Save caps").click()

    await expect(page.get_by_role("status")).to_contain_text("The caps are saved")
    await expect(page.get_by_label("Highest commission per lead")).to_have_value("2.50")
    await expect(page.get_by_label("Highest rate")).to_have_value("30")
    await expect(page.get_by_role("checkbox", name="Domain", exact=True)).to_be_checked()
    await expect(page.get_by_label("Approve and pay with two different keys")).to_be_checked()
