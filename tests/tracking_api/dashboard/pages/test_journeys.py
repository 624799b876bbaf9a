"""What merchants do most, in a real browser, counted in clicks: docs/dashboard.md has the same numbers."""

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from playwright.async_api import Locator, Page, expect

from storage.rules.errors import CustomerNotFound
from tests.tracking_api.dashboard.pages.conftest import Site

DOCS = Path(__file__).parents[4] / "docs" / "dashboard.md"
NOW = datetime.now(UTC)
LAST_MONTH = NOW.replace(day=1) - timedelta(days=20)  # its hold is over


@dataclass
class Walk:
    """A visitor who begins on the program's overview, and how many clicks and searches they needed."""

    page: Page
    clicks: int = 0
    searches: int = 0

    async def click(self, what: Locator) -> None:
        await what.click()
        self.clicks += 1

    async def search(self, text: str) -> None:
        await self.page.keyboard.press("Control+k")
        await self.page.keyboard.type(text)
        await self.page.keyboard.press("Enter")
        self.searches += 1

    def menu(self, title: str) -> Locator:
        return self.page.get_by_role("navigation", name="Program", exact=True).get_by_role("link", name=title)


async def begin(site: Site, page: Page) -> Walk:
    await page.goto(site.program)
    return Walk(page)


async def fill(site: Site) -> None:
    """Last month and today: two customers of Anna's; one gave money back, and an invoice was rejected."""
    acme = site.acme
    await acme.customer("user-1", at=LAST_MONTH)
    await acme.sale("inv-old", 12_300, at=LAST_MONTH)
    await acme.customer("user-2", at=NOW)
    await acme.sale("inv-new", 5_000, at=NOW, customer_key="user-2")
    await acme.refund("inv-new", 1_700, at=NOW + timedelta(milliseconds=1))
    await acme.reject(CustomerNotFound(), transaction_id="inv-404", customer_key="USER-2", at=NOW)


async def last_month_of_one_partner(walk: Walk) -> None:
    await walk.click(walk.page.get_by_role("row", name="Anna").get_by_role("link"))
    await walk.click(walk.page.locator("details.periods summary"))
    await walk.click(walk.page.get_by_role("link", name="Last month"))
    await expect(walk.page.get_by_role("main")).to_contain_text("$123.00")


async def approve_what_is_ready(walk: Walk) -> None:
    await walk.click(walk.page.get_by_role("link", name="Approve"))
    await walk.click(walk.page.get_by_label("Select all on this page").first)
    await walk.click(walk.page.get_by_role("button", name="Approve"))
    await expect(walk.page.get_by_role("status")).to_contain_text("Approved: 1")


async def why_was_an_invoice_not_credited(walk: Walk) -> None:
    await walk.search("inv-404")
    story = walk.page.get_by_role("article", name="Transaction inv-404")
    await expect(story).to_contain_text('Send customer_key "user-2"')


async def follow_a_customer(walk: Walk) -> None:
    await walk.click(walk.menu("Customers"))
    await walk.click(walk.page.get_by_role("link", name="user-2"))
    await expect(walk.page.locator(".trail li h3")).to_contain_text(["Click", "Lead", "Sale", "Commission", "Refund"])


async def find_who_refunds_most(walk: Walk) -> None:
    await walk.click(walk.menu("Customers"))
    await walk.click(walk.page.get_by_role("columnheader", name="Refunded").get_by_role("link"))
    await expect(walk.page.locator("tbody tr").first).to_contain_text("user-2")
    await expect(walk.page.locator("tbody tr").first).to_contain_text("$17.00")


JOURNEYS = {
    "Last month of one partner": last_month_of_one_partner,
    "Approve what is ready": approve_what_is_ready,
    "Why was an invoice not credited": why_was_an_invoice_not_credited,
    "Follow a customer": follow_a_customer,
    "Find who refunds most": find_who_refunds_most,
}


def documented() -> dict[str, tuple[int, int]]:
    """Return the clicks and searches of each journey in the table of docs/dashboard.md."""
    rows = re.findall(r"^\| ([^|]+) \| (\d+) \| (\d+) \|", DOCS.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return {name: (int(clicks), int(searches)) for name, clicks, searches in rows}


async def test_each_journey_takes_as_many_clicks_as_the_docs_say(site: Site):
    await fill(site)
    page = await site.sign_in()
    counted: dict[str, tuple[int, int]] = {}

    for name, journey in JOURNEYS.items():
        walk = await begin(site, page)
        await journey(walk)
        counted[name] = (walk.clicks, walk.searches)

    assert counted.items() <= documented().items()
    assert max(clicks for clicks, _ in counted.values()) <= 3
