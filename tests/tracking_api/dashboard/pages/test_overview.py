"""The overview in a real browser: tiles choose what the chart shows, and the chart is read and sets the range."""

import re
from datetime import UTC, datetime, timedelta

from playwright.async_api import expect

from tests.tracking_api.dashboard.pages.conftest import Site


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
