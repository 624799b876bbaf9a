"""Settings: changed with care, said plainly, and kept in the audit log."""

from playwright.async_api import expect

from tests.tracking_api.dashboard.pages.conftest import MAX, OLGA, Site


async def test_a_change_is_saved_and_written_to_the_audit_log(site: Site):
    page = await site.sign_in()
    await page.goto(f"{site.program}/settings")
    await expect(page.get_by_role("group", name="Lead capture mode")).to_be_visible()
    await page.get_by_label("Browser allowed").check()
    await page.get_by_label("Rate", exact=True).fill("12.5")

    await page.get_by_role("button", name="Save settings").click()

    await expect(page.get_by_role("status")).to_contain_text("The settings are saved")
    await expect(page.get_by_label("Rate", exact=True)).to_have_value("12.5")
    await expect(page.get_by_label("Browser allowed")).to_be_checked()
    await page.get_by_role("link", name="Audit log").click()
    await expect(page.locator("tbody")).to_contain_text("server_required")
    await expect(page.locator("tbody tr").first).to_contain_text(OLGA)


async def test_an_error_appears_beside_its_field_and_nothing_is_saved(site: Site):
    page = await site.sign_in()
    await page.goto(f"{site.program}/settings")
    await page.get_by_label("Name").fill("Renamed")
    await page.get_by_label("Rate", exact=True).fill("101")

    await page.get_by_role("button", name="Save settings").click()

    await expect(page.get_by_role("alert")).to_contain_text("Nothing was saved")
    await expect(page.get_by_label("Rate", exact=True)).to_have_attribute("aria-invalid", "true")
    await page.goto(f"{site.program}/settings")
    await expect(page.get_by_label("Name")).to_have_value("Acme partners")


async def test_the_later_of_two_concurrent_edits_is_rejected(site: Site):
    first, second = await site.sign_in(), await site.sign_in()
    for page in (first, second):
        await page.goto(f"{site.program}/settings")
        await page.get_by_label("Name").fill("Renamed")
    await first.get_by_role("button", name="Save settings").click()
    await expect(first.get_by_role("status")).to_contain_text("saved")

    await second.get_by_role("button", name="Save settings").click()

    await expect(second.get_by_role("alert")).to_contain_text("Another member saved these settings")


async def test_a_member_reads_the_settings_and_the_members(site: Site):
    page = await site.sign_in(MAX)
    await page.goto(f"{site.program}/settings")
    await expect(page.get_by_label("Name")).to_be_disabled()
    await expect(page.get_by_role("button", name="Save settings")).to_have_count(0)

    await page.get_by_role("link", name="Members").click()

    await expect(page.get_by_role("row", name=OLGA)).to_contain_text("Owner")
    await expect(page.get_by_role("row", name=MAX)).to_contain_text("(you)")


async def test_the_checklist_ticks_by_itself_what_was_proved_and_gives_the_line_for_the_rest(site: Site):
    page = await site.sign_in()
    await page.goto(f"{site.program}/settings/checklist")
    snippet = await page.locator("#snippet-tracker_installed").inner_text()
    assert f'data-svc-program-id="{site.acme.program_id}"' in snippet

    test_sale = {"additional_data": {"test_mode": True}}
    assert (await site.call("/api/v1/track/sale", test_sale)).status_code == 200

    await expect(page.locator(".checklist li.done h3")).to_contain_text(["Send a test sale"])
