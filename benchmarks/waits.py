"""What a person waits for: the overview's largest paint in Chromium, and Explore with a filter over many clicks."""

import asyncio
from datetime import UTC, datetime, timedelta
from functools import partial
from urllib.request import Request, urlopen

from playwright.async_api import Browser

import background
import storage
from benchmarks import servers, world
from benchmarks.load import processor_seconds, timed
from benchmarks.results import Line, Plan, Subject, compare
from benchmarks.servers import POSTGRESQL, SQLITE, running
from cli.demo import sample
from storage.access import sessions
from storage.migrations import upgrade
from tests import chromium
from tests.world import SEALER

LIGHTHOUSE = {"offline": False, "latency": 40, "downloadThroughput": 1_310_720, "uploadThroughput": 1_310_720}
PAINTED = """new Promise((done) => new PerformanceObserver((list) => done(list.getEntries().at(-1).startTime / 1000))
    .observe({ type: "largest-contentful-paint", buffered: true }))"""
BIG = {40_000: 200, 1_000_000: 3_000}  # clicks of the shown range, and the milliseconds of a filter over them
CUSTOMERS, VISITS = 1_000, 3
FILTERS = {"": "", ", is": "&country=FR", ", is not": "&country.not=FR", ", contains": "&utm_campaign.contains=paign-1"}


async def pages(plan: Plan) -> list[Line]:
    """Measure the sample's overview beside the sign-in page, and Explore with filters beside the page without one."""
    return [*await _overview(plan), *await _explore(plan, SQLITE), *await _explore(plan, POSTGRESQL)]


async def _explore(plan: Plan, on: str) -> list[Line]:
    """Measure the processor time of the service and of the database for a page."""
    lines: list[Line] = []
    with servers.databases(on) as databases:
        for number, limit in BIG.items():
            url = await databases.create(f"explore_{number}")
            shop = await world.create(url, customers=CUSTOMERS)
            await world.load_clicks(url, shop, number - CUSTOMERS, datetime.now(UTC) - timedelta(days=29))
            await world.roll_up(url)
            async with storage.opened(url, patient=True) as store:
                await background.group_all(store, at=datetime.now(UTC) + timedelta(days=2))
            with running("service", url) as server:
                name, pids = f"Explore, {on}, {number:,} clicks", (server.pid, *databases.pids)
                page = partial(_page, f"http://127.0.0.1:{server.port}/programs/1/explore?compare=none", shop.session)
                subjects: dict[str, Subject] = {}
                for how, query in FILTERS.items():
                    spent, of = timed(partial(_spent, pids, partial(page, query))), dict.fromkeys([*subjects][:1])
                    subjects[f"{name}{how}"] = Subject(spent, of, limit if how else None)
                lines += await compare(subjects, plan)
    return lines


def _page(address: str, session: str, query: str) -> None:
    with urlopen(Request(address + query, headers={"Cookie": f"svc_session={session}"})) as response:
        assert b"card-sources" in response.read(), address


async def _spent(pids: tuple[int, ...], page: partial[None]) -> float:
    before = processor_seconds(*pids)
    for _ in range(VISITS):
        await asyncio.to_thread(page)
    return (processor_seconds(*pids) - before) / VISITS


async def _overview(plan: Plan) -> list[Line]:
    subjects = {}
    with servers.databases(SQLITE) as databases:
        url = await databases.create("service")
        await upgrade(url)
        async with storage.opened(url, patient=True) as store:
            made = await store.write(sample.create, password_hash="none", sealer=SEALER, at=datetime.now(UTC))
            token = (await store.write(sessions.start, 1, at=datetime.now(UTC))).token
        with running("service", url) as server:
            async with chromium.launched() as browser:
                for cache, visits in (("empty", 1), ("full", 2)):
                    how = partial(_paint, browser, server.port, token=token, visits=visits)
                    overview = timed(partial(how, f"/programs/{made[1][0][0]}"), 3)
                    sign_in, name = f"sign-in page, {cache} cache", f"overview, {cache} cache"
                    subjects[sign_in] = Subject(timed(partial(how, "/sign-in"), 3))
                    subjects[name] = Subject(overview, {sign_in: 0.67})  # it takes 1.5 times as long
                return await compare(subjects, plan)


async def _paint(browser: Browser, port: int, path: str, *, token: str, visits: int) -> float:
    """Return the seconds to the largest paint of the last of some visits."""
    base_url = f"http://127.0.0.1:{port}"
    context = await browser.new_context(base_url=base_url, viewport={"width": 1440, "height": 900})
    if path != "/sign-in":
        await context.add_cookies([{"name": "svc_session", "value": token, "url": base_url}])
    page = await context.new_page()
    network = await context.new_cdp_session(page)
    await network.send("Network.enable")
    await network.send("Network.emulateNetworkConditions", LIGHTHOUSE)
    for _ in range(visits):
        await page.goto(path, wait_until="networkidle")
        seconds: float = await page.evaluate(PAINTED)
    await context.close()
    return seconds
