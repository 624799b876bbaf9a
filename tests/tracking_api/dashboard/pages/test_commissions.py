"""Commissions: decided many at a time, filtered, and exported."""

import csv
import io

from playwright.async_api import expect

from tests.tracking_api.dashboard.pages.conftest import Site


async def test_what_is_ticked_is_approved_and_the_rest_is_left(site: Site):
    for number in range(3):
        await site.sell(f"user-{number}", f"inv-{number}")
    page = await site.sign_in()
    await page.goto(f"{site.program}/commissions")
    await page.locator("tbody input[type=checkbox]").nth(0).check()
    await page.locator("tbody input[type=checkbox]").nth(2).check()

    await page.get_by_role("button", name="Approve").click()

    await expect(page.get_by_role("status")).to_have_text("Approved: 2.")
    await expect(page.locator("tbody .badge")).to_have_text(["Approved", "Pending", "Approved"])


async def test_one_that_may_not_take_the_step_is_named_and_holds_up_no_other(site: Site):
    for number in range(2):
        await site.sell(f"user-{number}", f"inv-{number}")
    page = await site.sign_in()
    await page.goto(f"{site.program}/commissions")
    await page.locator("tbody input[type=checkbox]").nth(0).check()
    await page.get_by_role("button", name="Approve").click()
    await page.get_by_label("Select all on this page").check()

    await page.get_by_role("button", name="Mark as paid").click()

    await expect(page.get_by_role("status")).to_contain_text("Marked as paid: 1. Not changed: 1")


async def test_the_list_is_narrowed_and_so_is_its_export(site: Site):
    await site.sell("=HYPERLINK(1)", "inv-1")
    await site.sell("user-2", "inv-2")
    page = await site.sign_in()
    await page.goto(f"{site.program}/commissions")
    await page.get_by_role("link", name="Approved").click()
    await expect(page.get_by_role("heading", name="No matching commissions")).to_be_visible()
    await page.get_by_role("link", name="Pending").click()

    async with page.expect_download() as downloading:
        await page.get_by_role("link", name="Export as CSV").click()

    download = await downloading.value
    rows = list(csv.DictReader(io.StringIO((await download.path()).read_text())))
    assert download.suggested_filename.startswith(f"commissions-{site.acme.program_id}-")
    assert [(row["transaction_id"], row["earned"], row["currency"]) for row in rows] == [
        ("inv-2", "20.00", "USD"),
        ("inv-1", "20.00", "USD"),
    ]
    assert rows[1]["customer_key"] == "'=HYPERLINK(1)"
