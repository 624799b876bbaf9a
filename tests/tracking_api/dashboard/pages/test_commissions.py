"""Commissions: decided many at a time, filtered, and exported."""

import csv
import io
import re

from playwright.async_api import expect

from storage.engine.audit import OPERATOR
from storage.management import program_settings
from tests.tracking_api.dashboard.pages.conftest import MAX, Site
from tests.world import NOW


async def release(site: Site) -> None:
    """Let later sales be approved at once."""
    changes = {"hold_days": 0}
    await site.acme.store.write(program_settings.change, site.acme.program_id, changes, actor=OPERATOR, at=NOW)


async def test_selected_commissions_are_approved_and_others_are_not(site: Site):
    await release(site)
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


async def test_a_commission_that_cannot_change_is_named_and_does_not_stop_others(site: Site):
    await release(site)
    for number in range(2):
        await site.sell(f"user-{number}", f"inv-{number}")
    page = await site.sign_in()
    await page.goto(f"{site.program}/commissions?status=all")
    await page.locator("tbody input[type=checkbox]").nth(0).check()
    await page.get_by_role("button", name="Approve").click()
    await page.get_by_label("Select all on this page").check()

    await page.get_by_role("button", name="Mark as paid…").click()
    await expect(page.get_by_role("heading", level=1)).to_have_text("Mark as paid: 1 commission, $20.00?")
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


async def test_the_list_opens_with_what_is_ready_to_approve(site: Site):
    await site.sell("user-1", "inv-on-hold")
    await release(site)
    page = await site.sign_in()
    await page.goto(f"{site.program}/commissions")
    await expect(page.get_by_role("heading", name="No commission is ready to approve")).to_be_visible()
    await site.sell("user-2", "inv-ready")

    await page.reload()

    await expect(page.locator("tbody tr")).to_have_count(1)
    await expect(page.locator("tbody tr")).to_contain_text("inv-ready")
    await page.get_by_role("link", name="Pending", exact=True).click()
    await expect(page.locator("tbody tr")).to_have_count(2)


async def test_an_owner_approves_one_on_hold_with_a_reason(site: Site):
    await site.sell()
    page = await site.sign_in()
    await page.goto(f"{site.program}/commissions?status=pending")
    await page.locator("tbody tr a").first.click()
    await page.evaluate("document.querySelector('#override_hold_reason').required = false")
    await page.get_by_role("button", name="Approve now").click()
    await expect(page.get_by_role("alert")).to_contain_text("Override hold reason")
    await page.get_by_label("Reason").fill("Anna's invoice is due")

    await page.get_by_role("button", name="Approve now").click()

    await expect(page.get_by_role("status")).to_have_text("Approved: 1.")
    await expect(page.get_by_role("heading", level=1)).to_contain_text("Approved")
    await expect(page.get_by_role("button", name="Approve now")).to_have_count(0)
    await page.goto(f"{site.program}/settings/audit-log")
    await expect(page.locator("tbody")).to_contain_text("Anna's invoice is due")


async def test_a_member_reads_a_commission_and_cannot_approve_it(site: Site):
    await site.sell()
    page = await site.sign_in(MAX)
    await page.goto(f"{site.program}/commissions?status=pending")

    await page.locator("tbody tr a").first.click()

    await expect(page.get_by_role("heading", level=1)).to_have_text(re.compile(r"Commission \$20\.00\s+Pending"))
    await expect(page.get_by_role("button", name="Approve now")).to_have_count(0)
