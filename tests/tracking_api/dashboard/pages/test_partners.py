"""Partners: added, paused, and given a link to copy."""

from playwright.async_api import Page, expect

from storage.management import partners
from tests.tracking_api.dashboard.pages.conftest import Site
from tests.tracking_api.dashboard.pages.test_every_page import WEIGHT
from tests.world import NOW

CLEO = "https://acme.example/?aff=cleo"


async def add(page: Page, name: str, code: str) -> None:
    await page.get_by_label("Name").fill(name)
    await page.get_by_label("Code").fill(code)
    await page.get_by_role("button", name="Add partner").click()


async def test_a_partner_is_added_gets_a_link_to_copy_that_counts_and_is_paused(site: Site):
    page = await site.sign_in(permissions=["clipboard-read", "clipboard-write"])
    await page.goto(f"{site.program}/partners")
    await page.get_by_text("Add a partner").click()
    await add(page, "Cleo", "anna")
    await expect(page.get_by_role("alert")).to_contain_text("Code")
    await expect(page.get_by_role("alert")).to_be_focused()
    await expect(page.get_by_label("Name")).to_have_value("Cleo")

    await add(page, "Cleo", "cleo")

    await expect(page.get_by_role("status")).to_contain_text("The partner is added")
    await page.get_by_role("button", name="Copy the link of Cleo").click()
    await expect(page.get_by_text("Copied")).to_be_visible()
    link = await page.evaluate("navigator.clipboard.readText()")
    click = {"program_id": site.acme.program_id, "affiliate_url": link}
    assert (link, (await site.call("/api/v1/track/click", click)).json()["partner_code"]) == (CLEO, "cleo")
    await page.get_by_role("button", name="Pause Cleo").click()
    await expect(page.get_by_role("row", name="Cleo")).to_contain_text("Paused")
    assert (await site.call("/api/v1/track/click", click)).json()["reason"] == "partner_inactive"


async def test_long_names_are_cut_and_leave_the_money_on_screen(site: Site):
    for n in range(200):
        name = f"{n:03} ".ljust(90, "x")
        await site.acme.store.write(partners.enrol, site.acme.program_id, name=name, code=f"p-{n}", at=NOW)
    page = await site.sign_in()
    await page.goto(f"{site.program}/partners", wait_until="networkidle")
    assert await page.evaluate(WEIGHT) < 120_000
    money = page.locator("tbody tr").first.get_by_role("cell").filter(has_text="$")
    name_of_first = page.locator("tbody .cut").first

    for width in (1440, 390):
        await page.set_viewport_size({"width": width, "height": 900})

        assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        boxes = [await cell.bounding_box() for cell in await money.all()]
        assert len(boxes) == 3
        assert all(box and box["x"] >= 0 and box["x"] + box["width"] <= width for box in boxes)
    assert await name_of_first.evaluate("cut => cut.scrollWidth > cut.clientWidth")
    await name_of_first.hover()
    await expect(name_of_first).to_have_attribute("title", "199 ".ljust(90, "x"))
    await page.locator("tbody a").first.focus()
    assert await name_of_first.evaluate("cut => cut.scrollWidth <= cut.clientWidth")
