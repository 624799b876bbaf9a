"""The overview: what its tiles, chart and table say is what the API says."""

import re
from datetime import UTC, datetime, timedelta

from playwright.async_api import expect

from tests.tracking_api.dashboard.pages.conftest import OLGA, PASSWORD, Site


async def test_the_table_of_the_chart_says_what_the_performance_endpoint_says(site: Site):
    await site.sell()
    page = await site.sign_in()
    await page.goto(f"{site.program}?period=7d")

    await page.get_by_text("Show the days as a table").click()
    shown = await page.locator("#days tbody tr").all_inner_texts()

    token = (await site.call("/api/auth/login", {"email": OLGA, "password": PASSWORD})).json()["token"]
    report = await page.request.get(
        f"/api/tracking/performance/{site.acme.program_id}", headers={"Authorization": f"Bearer {token}"}
    )
    rows = (await report.json())["data"]
    figures = [row.split("\t")[1:] for row in shown]
    assert [[*row[3:6], row[0], row[1]] for row in figures] == [
        [
            *(str(row[name]) for name in ("clicks", "leads", "conversions")),
            f"${row['revenue']:.2f}",
            f"${row['commission']:.2f}",
        ]
        for row in rows
    ]
    profit_and_rates = ["$80.00", "1", "1", "1", "100%", "$20.00", "$0.00"]
    assert figures[-1] == ["$100.00", "$20.00", *profit_and_rates]


async def test_a_tile_chooses_what_the_chart_shows_and_says_what_it_means(site: Site):
    await site.sell()
    page = await site.sign_in()
    await page.goto(site.program)
    await expect(page.locator("#chart canvas")).to_be_visible()
    await expect(page.locator("#chart-title")).to_have_text("Revenue per day")

    await page.get_by_role("button", name="New customers").click()

    await expect(page.locator("#chart-title")).to_have_text("New customers per day")
    tile = page.get_by_role("button", name="Refunds")
    await page.keyboard.press("Tab")  # from here on the keyboard moves the focus
    await tile.focus()
    await expect(page.get_by_text("also of sales from before it")).to_be_visible()
    await expect(tile).to_have_accessible_description(re.compile("What was refunded in this period"))
    await page.keyboard.press("Tab")
    await expect(page.get_by_role("link", name="Glossary about Refunds")).to_be_focused()
    await page.keyboard.press("Escape")
    await expect(page.get_by_text("also of sales from before it")).to_be_hidden()


async def test_the_chart_is_read_at_the_pointer_and_sets_the_range(site: Site):
    await site.sell()
    page = await site.sign_in()
    await page.goto(f"{site.program}?period=7d")
    over = page.locator("#chart .u-over")
    box = await over.bounding_box()
    assert box
    today = datetime.now(UTC).date()

    await page.mouse.move(box["x"] + box["width"] - 2, box["y"] + 40)
    await expect(page.locator("#chart-value")).to_have_text(
        f"{today:%b} {today.day}, {today.year}, so far: $100 · before: $0"
    )
    drawn = await page.evaluate("chart.data.slice(1)")
    assert drawn == [[0] * 7, [0] * 6 + [None], [None] * 5 + [0, 100]]  # before; what is over; what is not
    assert await page.evaluate("chart.series.map((line) => line.dash?.length)") == [None, 2, None, 2]

    await page.mouse.down()
    await page.mouse.move(box["x"] + box["width"] * 2 / 3, box["y"] + 40, steps=3)
    await page.mouse.up()
    await page.wait_for_url(f"**?dateFrom={today - timedelta(days=2)}&dateTo={today}")
    box = await over.bounding_box()
    assert box
    await page.mouse.click(box["x"] + box["width"] - 2, box["y"] + 40)
    await page.wait_for_url(f"**?dateFrom={today}&dateTo={today}")

    await expect(page.locator("#chart-title")).to_have_text("Revenue per hour")
    await expect(page.locator("#chart canvas")).to_be_visible()
    labels = await page.evaluate("chart.axes[0]._values")
    assert labels[0] == "00:00"
    assert len(labels) == len(set(labels)) >= 6


async def test_a_custom_range_is_shown_and_an_invalid_one_is_rejected_beside_the_form(site: Site):
    page = await site.sign_in()
    await page.goto(site.program)
    await page.get_by_text("Period: Last 30 days").click()
    await page.get_by_label("From", exact=True).fill("2026-05-01")
    await page.get_by_label("To", exact=True).fill("2026-05-31")
    await page.locator(".pop").get_by_role("button", name="Show these days").click()
    await expect(page.locator("figcaption")).to_contain_text("May 1, 2026 to May 31, 2026")

    await page.goto(f"{site.program}?dateFrom=2026-05-31&dateTo=2026-05-01")

    await expect(page.get_by_role("alert")).to_be_visible()


async def test_a_new_program_shows_the_next_step(site: Site):
    page = await site.sign_in()
    await page.get_by_role("link", name="New program").click()
    await page.get_by_label("Name").fill("Second")
    await page.get_by_label("Domain").fill("second.example")
    await page.get_by_role("button", name="Create program").click()

    await expect(page.get_by_role("status")).to_contain_text("The program is created")
    await expect(page.locator(".checklist li.open")).to_have_count(9)
    await page.get_by_role("link", name="Overview").click()

    await expect(page.get_by_role("heading", name="Finish the setup: 0 of 9 done")).to_be_visible()
    await expect(page.locator(".callout")).to_contain_text("Next: Create the program key")
    await expect(page.get_by_text("No partner sent a visitor in this period.")).to_be_visible()
