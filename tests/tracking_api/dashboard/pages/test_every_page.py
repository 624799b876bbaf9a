"""What holds on every page: no barrier that axe-core finds, light or dark, on a phone or a desk; small; and guarded."""

import re
import shutil
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlencode, urlsplit

import pytest
from playwright.async_api import Browser, Page

import storage
from cli.demo import sample
from presentation.plans import PREPARED
from storage.access import accounts, invitations, workspaces
from storage.engine.audit import OPERATOR, By
from storage.lists.commissions import COMMISSIONS
from storage.lists.customers import CUSTOMERS
from storage.lists.declaration import List
from storage.lists.partners import PARTNERS
from storage.lists.payables import PAYABLES
from storage.lists.payouts import PAYOUTS
from tests.serving import Serve
from tests.storage.management.paying import draft, pay_by
from tests.tracking_api.authorization.consenting import ask
from tests.tracking_api.dashboard.pages.conftest import HASH, NODE, Site, cut_off, violations_here
from tests.tracking_api.portal.conftest import start_session
from tests.world import NOW, SEALER, World
from tracking_api.dashboard.routes import PAGES
from tracking_api.portal.routes import PAGES as PORTAL_PAGES

ROWS: dict[str, List[Any]] = {
    "partner_id": PARTNERS,
    "customer_id": CUSTOMERS,
    "commission_id": COMMISSIONS,
    "payout_id": PAYOUTS,
}
SMALL = re.compile("/payouts|^/portal")
LARGEST_PAGE = 150 * 1000
WEIGHT = """[...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")]
    .reduce((sum, each) => sum + each.decodedBodySize, 0)"""
WIDTHS = (390, 768, 1440, 1920)
AXE_WIDTHS = (390, 1440)
SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
PUBLIC = ["/", "/sign-in", "/docs", "/docs/integration", "/docs/errors", "/docs/configuration"]


@pytest.fixture(scope="module")
async def sampled(sqlite_template: Path, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[tuple[str, World]]:
    """The sample workspace that `svc demo` serves, and the URL of its database."""
    url = f"sqlite+aiosqlite:///{shutil.copy(sqlite_template, tmp_path_factory.mktemp('demo') / 'svc.db')}"
    async with storage.opened(url, patient=True) as store:
        workspace_id, [(program_id, _, key), *_], _ = await store.write(
            sample.create, password_hash=HASH, sealer=SEALER, at=NOW
        )
        acme = World(store, workspace_id, 0, program_id, key, 0, 0)
        for each in (await acme.listed(PAYABLES)).data[::2]:
            await pay_by(acme, each.id)
        await draft(acme)
        await acme.change(partners_may_apply=True)
        yield url, acme


@pytest.fixture
def demo(sampled: tuple[str, World], serve: Serve, browser: Browser) -> Site:
    return Site(sampled[1], serve(sampled[0]), browser, [])


async def addresses(demo: Site) -> list[str]:
    """Return one address of each page that a GET answers, of rows that exist and an assistant that asks."""
    ids = {name: str((await demo.acme.listed(each)).data[0].id) for name, each in ROWS.items()}
    ids["sealed"] = urlsplit((await ask(demo.server.base_url)).page).path.rpartition("/")[2]
    ids["program_id"] = str(demo.acme.program_id)
    paths = [each.path for each in PAGES if "GET" in (each.methods or ()) and each.path not in PUBLIC]
    visited = [path for path in paths if not re.search(r"^/static|\.|/logo/|/reports/", path)]
    return [re.sub(r"\{(\w+)\}", lambda name: ids.get(name[1], name[1]), path) for path in visited]


async def partner(demo: Site, **options: Any) -> tuple[Page, list[str]]:
    """Return the browser of the partner who has earned the most, and the addresses of the portal."""
    best = max((await demo.acme.listed(PAYABLES)).data, key=lambda each: each.paid_cents + each.to_pay_cents)
    token = await start_session(demo.acme, best.id, at=datetime.now(UTC))
    page = await demo.visit(**options)
    await page.context.add_cookies([{"name": "svc_portal", "value": token, "url": demo.server.base_url}])
    ids = {"program_id": demo.acme.program_id, "sealed": "none"}
    paths = [each.path for each in PORTAL_PAGES if "GET" in (each.methods or ())]
    named = [path.format(**ids) for path in paths if not re.search(r"qr.svg|number", path)]
    return page, [*named, f"/portal/earnings?month={NOW:%Y-%m}"]


async def test_axe_finds_nothing_and_nothing_is_cut_off_at_any_width_in_either_scheme(demo: Site, axe: str):
    page, stranger = await demo.sign_in(sample.OWNER, bypass_csp=True), await demo.visit(bypass_csp=True)
    anna, of_portal = await partner(demo, bypass_csp=True)
    addressed = [(page, path) for path in [*await addresses(demo), *await links(demo)]]
    addressed += [(anna, path) for path in of_portal]

    found = [
        f"{scheme}, {width}: {barrier}"
        for visited, path in [*((stranger, path) for path in PUBLIC), *addressed]
        async for scheme, width in every_look(visited, path)
        for barrier in (await violations_here(visited, axe) if width in AXE_WIDTHS else await cut_off(visited))
    ]

    assert not found, "\n".join(found)


async def links(demo: Site) -> list[str]:
    """Return what people are sent, an invitation, a reset link and a prepared plan, and that of results as a table."""
    store = demo.acme.store
    by = By(OPERATOR, datetime.now(UTC))
    owner = await store.read(accounts.find_id, sample.OWNER)
    reset = await store.write(accounts.create_reset_link, owner, by=by)
    invitee: dict[str, Any] = {"email": "eva@acme.example", "role": workspaces.Role.MEMBER}
    invited = await store.write(invitations.invite, demo.acme.workspace_id, **invitee, by=by)
    step = ["PATCH", "", {"commission_rate": 25}]
    plan = (PREPARED, demo.acme.program_id, sample.OWNER, [step], "Partners leave")
    query = urlencode({"draft": SEALER.seal_until(by.at + timedelta(days=1), *plan)})
    sent = [f"/reset-password#{reset.token}", f"/join#{invited.token}", f"{demo.program}/plans?{query}"]
    return [*sent, f"{demo.program}?table=1"]


async def every_look(page: Page, address: str) -> AsyncIterator[tuple[str, int]]:
    """Open a page, and show it at each width, in each scheme where a width has its own layout."""
    await page.goto(address)
    for scheme in SCHEMES:
        await page.emulate_media(color_scheme=scheme)
        for width in WIDTHS if scheme == "light" else AXE_WIDTHS:
            await page.set_viewport_size({"width": width, "height": 900})
            yield scheme, width


async def test_no_page_weighs_over_150_kb_or_breaks_its_own_policy_and_explore_payouts_and_the_portal_are_light(
    demo: Site,
):
    owner, (anna, of_portal) = await demo.sign_in(sample.OWNER), await partner(demo)
    weights, html = dict[str, int](), dict[str, int]()

    everything = [*await addresses(demo), f"{demo.program}?period=all", f"{demo.program}?period=90d", *PUBLIC[2:]]
    for page, path in [*((owner, path) for path in everything), *((anna, path) for path in of_portal)]:
        shown = await page.goto(path, wait_until="networkidle")
        html[path] = len(await shown.body()) if shown else 0
        weights[path] = await page.evaluate(WEIGHT)

    assert len(weights) > 15
    assert min(weights.values()) > 10_000
    assert {path: weight for path, weight in weights.items() if weight > LARGEST_PAGE} == {}
    assert {path: size for path, size in html.items() if SMALL.search(path) and size > 40_000} == {}
    assert min(size for path, size in html.items() if "/payouts" in path) > 5_000
    assert html[f"{demo.program}/explore"] <= 24_000
    assert demo.said == []


@pytest.mark.browser  # needs the npm packages
async def test_vendored_files_match_the_lock_file():
    vendor = Path(__file__).parents[4] / "tracking_api" / "dashboard" / "static" / "vendor"
    sources = {
        "htmx.min.js": "htmx.org/dist/htmx.min.js",
        "uPlot.iife.min.js": "uplot/dist/uPlot.iife.min.js",
        "uPlot.min.css": "uplot/dist/uPlot.min.css",
    }

    different = [name for name, path in sources.items() if (vendor / name).read_bytes() != (NODE / path).read_bytes()]

    assert different == []
