"""Partners: added, paused, and given a link to copy."""

from playwright.async_api import Page, expect

from storage.management import partners
from tests.tracking_api.dashboard.pages.conftest import MAX, Site
from tests.tracking_api.dashboard.pages.test_every_page import WEIGHT
from tests.world import NOW


async def add(page: Page, name: str, code: str) -> None:
    await page.get_by_text("Add a partner").click()
    await page.get_by_label("Name").fill(name)
    await page.get_by_label("Code").fill(code)
    await page.get_by_role("button", name="Add partner").click()


async def test_a_partner_who_is_added_has_a_link_that_counts(site: Site):
    page = await site.sign_in()
    await page.goto(f"{site.program}/partners")

    await add(page, "Cleo", "cleo")

    await expect(page.get_by_role("status")).to_contain_text("The partner is added")
    link = await page.get_by_role("row", name="Cleo").locator(".link .mono").inner_text()
    clicked = await site.call("/api/v1/track/click", {"program_id": site.acme.program_id, "affiliate_url": link})
    assert clicked.json()["partner_code"] == "cleo"


async def test_a_duplicate_code_is_shown_beside_its_field_and_the_form_keeps_its_values(site: Site):
    page = await site.sign_in()
    await page.goto(f"{site.program}/partners")

    await add(page, "Another Anna", "anna")

    await expect(page.get_by_role("alert")).to_contain_text("Code")
    await expect(page.get_by_role("alert")).to_be_focused()
    await expect(page.get_by_label("Name")).to_have_value("Another Anna")


async def test_new_clicks_of_a_paused_partner_do_not_count(site: Site):
    page = await site.sign_in()
    await page.goto(f"{site.program}/partners")

    await page.get_by_role("button", name="Pause Ben").click()

    await expect(page.get_by_role("row", name="Ben")).to_contain_text("Paused")
    clicked = await site.call(
        "/api/v1/track/click",
        {"program_id": site.acme.program_id, "affiliate_url": "https://acme.example/?aff=ben"},
    )
    assert clicked.json()["reason"] == "partner_inactive"


async def test_the_link_is_copied(site: Site):
    page = await site.sign_in(permissions=["clipboard-read", "clipboard-write"])
    await page.goto(f"{site.program}/partners")

    await page.get_by_role("button", name="Copy the link of Anna").click()
    await expect(page.get_by_text("Copied")).to_be_visible()

    assert await page.evaluate("navigator.clipboard.readText()") == "https://acme.example/?aff=anna"


async def test_a_member_reads_partners_and_changes_none(site: Site):
    page = await site.sign_in(MAX)
    await page.goto(f"{site.program}/partners")

    await expect(page.get_by_role("row", name="Anna")).to_be_visible()
    await expect(page.get_by_role("button", name="Pause")).to_have_count(0)
    await expect(page.get_by_text("Add a partner")).to_have_count(0)


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
