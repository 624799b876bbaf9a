"""What merchants do most and how people get in, in a real browser, counted in clicks as docs/dashboard.md says."""

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

from playwright.async_api import Browser, Page, expect

from storage.rules.errors import CustomerNotFound
from tests.browser.scene import FIREFOX
from tests.cli.conftest import Svc
from tests.storage.management.paying import pay_by
from tests.tracking_api.authorization.consenting import CALLBACK, ask
from tests.tracking_api.dashboard.pages.conftest import JOURNEYS, MAX, PASSWORD, Site, Walk, violations_here

DOCS = Path(__file__).parents[4] / "docs" / "dashboard.md"
NOW = datetime.now(UTC)
LAST_QUARTER = NOW.replace(month=(NOW.month - 1) // 3 * 3 + 1, day=1) - timedelta(days=20)
LAST_MONTH = NOW.replace(day=1) - timedelta(days=20)  # its hold is over


async def fill(site: Site) -> None:
    """Three customers of Anna's, of last quarter, last month and today; one was refunded, and an invoice rejected."""
    acme = site.acme
    await acme.customer("user-0", at=LAST_QUARTER)
    await acme.sale("inv-older", 1_000, at=LAST_QUARTER, customer_key="user-0")
    await pay_by(acme, acme.anna)
    await acme.customer("user-1", at=LAST_MONTH)
    await acme.sale("inv-old", 12_300, at=LAST_MONTH)
    await acme.customer("user-2", at=NOW)
    await acme.sale("inv-new", 5_000, at=NOW, customer_key="user-2")
    await acme.refund("inv-new", 1_700, at=NOW + timedelta(milliseconds=1))
    await acme.reject(CustomerNotFound(), transaction_id="inv-404", customer_key="USER-2", at=NOW)


async def choose_password(site: Site, owner: Walk, link: str, button: str) -> Page:
    """Follow the link of an owner's page in another browser, whose clicks count too."""
    guest = Walk(await site.visit())
    await guest.page.goto(await owner.page.locator(link).inner_text())
    for label in ("New password", "New password again"):
        await guest.page.get_by_label(label, exact=True).fill(PASSWORD)
    await guest.press(button)
    owner.clicks += guest.clicks
    return guest.page


async def invite_and_join(site: Site, walk: Walk) -> None:
    await walk.open("Settings", "Members")
    await walk.click(walk.page.get_by_text("Invite a member"))
    await walk.page.get_by_label("E-mail address").fill("eva@acme.example")
    await walk.press("Invite")
    page = await choose_password(site, walk, "#invitation-link", "Create the account and join")
    await expect(page.get_by_role("status")).to_contain_text("Welcome")


async def lost_password(site: Site, walk: Walk) -> None:
    await walk.open("Settings", "Members")
    await walk.click(walk.page.get_by_text(f"More for {MAX}"))
    await walk.press(f"Password link {MAX}")
    member = Walk(await choose_password(site, walk, "#reset-link", "Set password"))
    await member.page.get_by_label("E-mail address").fill(MAX)
    await member.page.get_by_label("Password").fill(PASSWORD)
    await member.press("Sign in")
    walk.clicks += member.clicks
    await expect(member.page.get_by_role("heading", name="Programs")).to_be_visible()


async def rotate_a_key(site: Site, walk: Walk) -> None:
    await walk.open("Settings", "API keys")
    await walk.click(walk.page.get_by_label("I am ready to deploy the new key at once"))
    await walk.press("Generate a new key")
    lines = (await walk.page.locator("#secret").inner_text()).splitlines()
    new_key = dict(line.split("=") for line in lines)["SERVICE_API_KEY"]
    assert (await site.call("/api/v1/track/refund", {}, new_key)).status_code == 400


async def connect_an_assistant(site: Site, walk: Walk) -> None:
    await walk.page.route(f"{CALLBACK}*", lambda route: route.fulfill(body="Back at your assistant"))
    await walk.page.goto((await ask(site.server.base_url)).page)
    await walk.press("Connect")
    await walk.page.wait_for_url(re.compile(f"^{CALLBACK}.*code=oac_"))


GETTING_IN = (invite_and_join, lost_password, rotate_a_key, connect_an_assistant)


def documented() -> dict[str, tuple[int, int]]:
    """Return the clicks and searches of each journey in the table of docs/dashboard.md."""
    rows = re.findall(r"^\| ([^|]+) \| (\d+) \| (\d+) \|", DOCS.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return {name: (int(clicks), int(searches)) for name, clicks, searches in rows}


async def test_each_journey_takes_as_many_clicks_as_the_docs_say(site: Site, axe: str):
    await fill(site)
    page = await site.sign_in(bypass_csp=True)
    counted: dict[str, tuple[int, int]] = {}

    for name, steps in (JOURNEYS["work"] | JOURNEYS["getting_in"]).items():
        await page.goto(site.program)
        walk = Walk(page)
        await walk.take(steps, axe)
        counted[name] = (walk.clicks, walk.searches)
    for journey in GETTING_IN:
        await page.goto(site.program)
        await journey(site, walk := Walk(page))
        counted[journey.__name__.replace("_", " ").capitalize()] = (walk.clicks, walk.searches)

    assert counted.items() <= documented().items()
    assert max(counted[name][0] for name in JOURNEYS["work"]) <= 4


async def set_up(page: Page, **others: str) -> None:
    for label, value in (JOURNEYS["set_up"] | others).items():
        await page.get_by_label(label, exact=True).fill(value)
    await page.get_by_role("button", name="Set up").click()


async def test_the_printed_link_leads_to_the_first_recorded_click_without_a_terminal_and_axe_finds_nothing(
    tmp_path: Path, browser: Browser, axe: str
):
    with Svc(tmp_path).running("serve", "--port", 0) as server:
        assert server.stdout
        link = [server.stdout.readline() for _ in range(2)][1].split()[-1]
        context = await browser.new_context(user_agent=FIREFOX, bypass_csp=True)
        page = await context.new_page()
        await page.goto(link)
        found = await violations_here(page, axe)
        await set_up(page, Domain="https://")
        found += await violations_here(page, axe)
        await set_up(page)
        await expect(page.locator("#secret")).to_contain_text("SERVICE_PROGRAM_ID=1\nSERVICE_API_KEY=aff_1_")
        found += await violations_here(page, axe)
        walk = Walk(page, clicks=1)  # Set up
        await walk.click(page.get_by_role("link", name="open the checklist"))
        await expect(page.get_by_role("heading", name="2 of 10 steps done")).to_be_visible()

        await walk.click(page.get_by_role("link", name="Open a sample page"))

        await expect(page.get_by_role("heading", name="3 of 10 steps done")).to_be_visible(timeout=30_000)
        assert await page.locator(".checklist li.done h3").count() == 3
        assert documented()["First run"] == (walk.clicks, walk.searches)
        found += await violations_here(page, axe)
        await page.get_by_role("link", name="Events").click()
        await expect(page.locator("tbody tr")).to_contain_text(["anna"])
        assert found == []
