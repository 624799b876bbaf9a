"""The overview: what its tiles, chart and table say is what the API says."""

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
    assert figures == [
        [
            *(str(row[name]) for name in ("clicks", "leads", "conversions")),
            f"${row['revenue']:.2f}",
            f"${row['commission']:.2f}",
        ]
        for row in rows
    ]
    assert figures[-1] == ["1", "1", "1", "$100.00", "$20.00"]


async def test_a_tile_chooses_what_the_chart_shows(site: Site):
    await site.sell()
    page = await site.sign_in()
    await page.goto(site.program)
    await expect(page.locator("#chart canvas")).to_be_visible()

    await page.get_by_role("button", name="Revenue").click()

    await expect(page.locator("#chart-title")).to_have_text("Revenue per day")
    await expect(page.get_by_role("button", name="Revenue")).to_have_attribute("aria-pressed", "true")
    await page.locator("#chart .u-over").hover()
    await expect(page.locator("#chart-value")).to_contain_text("$")


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
    await expect(page.locator(".callout")).to_contain_text(
        f'src="{site.server.base_url}/js/svc-tracker.js" data-svc-program-id="2"'
    )
    await expect(page.get_by_text("No partner sent a visitor in this period.")).to_be_visible()
