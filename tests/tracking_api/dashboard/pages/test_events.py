"""The list of events in a real browser: filtered without loading the page again, and live."""

from playwright.async_api import expect

from tests.tracking_api.dashboard.pages.conftest import Site


async def test_the_list_is_filtered_without_loading_the_page_again_and_shows_new_events_live(site: Site):
    await site.sell()
    page = await site.sign_in()
    await page.goto(f"{site.program}/events")
    await expect(page.locator("tbody tr")).to_have_count(3)
    await page.evaluate("window.stayed = true")

    await page.get_by_label("Kind").select_option("sale")

    await expect(page.locator("tbody tr")).to_have_count(1)
    assert await page.evaluate("window.stayed")
    assert "kind=sale" in page.url
    await page.get_by_label("Live: refresh every 3 seconds").check()
    await expect(page.locator("#log")).to_have_attribute("hx-trigger", "every 3s")
    await site.sell("user-2", "inv-2")
    await expect(page.locator("tbody tr")).to_have_count(2)
