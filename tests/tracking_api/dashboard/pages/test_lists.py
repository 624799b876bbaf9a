"""Lists and the overview in a real browser: filtered, live, searched, decided in bulk, and read off the chart."""

import re
from datetime import UTC, datetime, timedelta

import pytest
from playwright.async_api import Page, expect

from storage.management import partners
from tests.tracking_api.dashboard.pages.conftest import JOURNEYS, MAX, Site, Walk
from tests.world import NOW


async def add(page: Page, name: str, code: str) -> None:
    await page.get_by_label("Name").fill(name)
    await page.get_by_label("Code").fill(code)
    await page.get_by_role("button", name="Add partner").click()


async def test_the_list_is_filtered_without_loading_the_page_again_and_shows_new_events_live(site: Site):
    await site.sell()
    page = await site.sign_in()
    await page.goto(f"{site.program}/events")
    await expect(page.locator("tbody tr")).to_have_count(3)
    await page.evaluate("window.stayed = true")

    await page.get_by_label("Kind", exact=True).select_option("sale")

    await expect(page.locator("tbody tr")).to_have_count(1)
    assert await page.evaluate("window.stayed")
    assert "kind=sale" in page.url
    await page.get_by_label("Live: refresh every 3 seconds").check()
    await expect(page.locator("#log")).to_have_attribute("hx-trigger", "every 3s")
    await site.sell("user-2", "inv-2")
    await expect(page.locator("tbody tr")).to_have_count(2)


async def test_a_partner_is_added_and_gets_a_link_to_copy_that_counts(site: Site):
    page = await site.sign_in(permissions=["clipboard-read", "clipboard-write"])
    await page.goto(f"{site.program}/partners")
    await page.get_by_text("Add a partner").click()
    await add(page, "Cleo", "anna")
    await expect(page.get_by_role("alert")).to_contain_text("Code")

    await add(page, "Cleo", "cleo")

    await expect(page.get_by_role("status")).to_contain_text("The partner is added")
    await page.get_by_role("button", name="Copy the link of Cleo").click()
    await expect(page.get_by_text("Copied")).to_be_visible()
    link = await page.evaluate("navigator.clipboard.readText()")
    click = {"program_id": site.acme.program_id, "affiliate_url": link}
    assert link == "https://acme.example/?aff=cleo"
    assert (await site.call("/api/v1/track/click", click)).json()["partner_code"] == "cleo"


LISTS = ("partners", "customers", "commissions?status=all", "events", "settings/audit-log")
LOOKS = """() => {
  const rows = [...document.querySelectorAll("table.list tbody tr")];
  const bottoms = rows.map((row) => row.getBoundingClientRect().bottom);
  const [box] = document.querySelectorAll(".scroll");
  return [box.scrollWidth - box.clientWidth, Math.max(...rows.map((row) => row.offsetHeight)) <= 60,
    bottoms.filter((bottom) => bottom <= innerHeight).length >= 5];
}"""


async def test_rows_are_two_lines_fit_every_laptop_and_five_are_on_a_phone_s_first_screen(site: Site):
    acme = site.acme
    for n in range(6):
        code = f"code-{n}-{'x' * 50}"
        name = f"Partner {n} whose name is sixty characters long, as some are".ljust(60, "!")
        await acme.do(partners.enrol, name=name, code=code)
        await acme.customer(f"user-{n}-{'y' * 50}", code, at=NOW)
        await acme.sale(f"inv-{n}-{'z' * 50}", 98_765_432, at=NOW, customer_key=f"user-{n}-{'y' * 50}")
    page = await site.sign_in()

    looks = {}
    for path in LISTS:
        await page.goto(f"{site.program}/{path}{'&' if '?' in path else '?'}period=all")
        for width, height in ((1024, 900), (1280, 900), (1440, 900), (390, 844)):
            await page.set_viewport_size({"width": width, "height": height})
            looks[path, width] = await page.evaluate(LOOKS)

    assert looks == {look: [0, True, True] for look in looks}


@pytest.mark.parametrize("name", JOURNEYS["by_keyboard"])
async def test_a_list_the_search_and_filters_are_worked_through_by_keyboard(site: Site, axe: str, name: str):
    await site.sell()
    page = await site.sign_in(bypass_csp=True)
    await page.goto(f"{site.program}/partners")

    await Walk(page).take(JOURNEYS["by_keyboard"][name], axe)


async def test_the_chart_is_drawn_and_search_works_without_javascript(site: Site):
    await site.sell()
    await site.call("/api/v1/track/sale", {"transaction_id": "inv-2"})
    plain = await site.sign_in(MAX, java_script_enabled=False)
    await plain.goto(f"{site.program}?period=7d&figure=customers")
    await expect(plain.locator("#chart polyline").last).to_have_attribute("points", re.compile(" 6,0$"))

    await plain.get_by_role("searchbox", name="Search").fill("inv-404")
    await plain.get_by_role("searchbox", name="Search").press("Enter")
    await expect(plain.get_by_role("heading", name="This never arrived")).to_be_visible()
    await expect(plain.get_by_role("main")).to_contain_text("your server's last call was")


async def test_a_tile_chooses_what_the_chart_shows_and_the_chart_is_read_and_sets_the_range(site: Site):
    await site.sell()
    page = await site.sign_in()
    await page.goto(f"{site.program}?period=7d")
    title, over = page.locator("#chart-title"), page.locator("#chart .u-over")
    await expect(title).to_have_text("Revenue per day")
    box = await over.bounding_box()
    assert box
    today = datetime.now(UTC).date()

    await page.mouse.move(box["x"] + box["width"] - 2, box["y"] + 40)
    await expect(page.locator("#chart-value")).to_have_text(
        f"{today:%b} {today.day}, {today.year}, so far: $100 · before: $0"
    )
    drawn = await page.evaluate("chart.data.slice(1)")
    assert drawn == [[0] * 7, [0] * 6 + [None], [None] * 5 + [0, 100]]  # before; what is over; what is not
    await page.mouse.down()
    await page.mouse.move(box["x"] + box["width"] * 2 / 3, box["y"] + 40, steps=3)
    await page.mouse.up()
    await page.wait_for_url(f"**?dateFrom={today - timedelta(days=2)}&dateTo={today}")
    box = await over.bounding_box()
    assert box
    await page.mouse.click(box["x"] + box["width"] - 2, box["y"] + 40)
    await page.wait_for_url(f"**?dateFrom={today}&dateTo={today}")
    await expect(title).to_have_text("Revenue per hour")

    await page.get_by_role("link", name="Customers", exact=False).and_(page.locator("[data-figure]")).click()

    await expect(title).to_have_text("Customers per hour")
