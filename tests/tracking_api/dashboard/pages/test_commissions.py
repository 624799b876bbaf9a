"""Commissions decided many at a time: the bar of what is selected, in view on a phone, and Undo."""

from playwright.async_api import expect

from storage.engine.audit import OPERATOR
from storage.management import program_settings
from tests.tracking_api.dashboard.pages.conftest import Site
from tests.world import NOW


async def test_selected_commissions_are_approved_and_others_are_not(site: Site):
    changes = {"hold_days": 0}
    await site.acme.store.write(program_settings.change, site.acme.program_id, changes, actor=OPERATOR, at=NOW)
    for number in range(3):
        await site.sell(f"user-{number}", f"inv-{number}")
    page = await site.sign_in(viewport={"width": 390, "height": 500})
    await page.goto(f"{site.program}/commissions?status=all")
    await page.locator("tbody input[type=checkbox]").nth(0).check()
    await page.locator("tbody input[type=checkbox]").nth(2).check()

    await expect(page.locator(".bulk .sum")).to_have_text("2 selected, $40.00")
    await expect(page.locator(".bulk")).to_be_in_viewport(ratio=1)

    await page.get_by_role("button", name="Approve").click()

    await expect(page.get_by_role("status")).to_have_text("Approved: 2.")
    await expect(page.locator("tbody .badge")).to_have_text(["Approved", "Pending", "Approved"])
    await page.get_by_role("button", name="Undo").click()
    await expect(page.get_by_role("status")).to_contain_text("Undone: 2.")
    await page.get_by_role("link", name="All", exact=True).click()
    await expect(page.locator("tbody .badge")).to_have_text(["Pending", "Pending", "Pending"])
    async with page.expect_download() as downloading:
        await page.get_by_role("link", name="Export as CSV").click()
    assert (await downloading.value).suggested_filename.startswith(f"commissions-{site.acme.program_id}-")
