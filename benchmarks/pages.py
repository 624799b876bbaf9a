"""What the overview costs a person: its largest contentful paint in Chromium, beside the sign-in page's."""

from datetime import UTC, datetime
from itertools import product
from pathlib import Path
from statistics import median, quantiles

from playwright.async_api import Browser, Page

import storage
from benchmarks import servers
from benchmarks.results import Ceiling, Line, Ratio
from benchmarks.rounds import Plan
from cli.demo import sample
from storage.access import sessions
from storage.migrations import upgrade
from tests import chromium

LOADS = 3  # of each page in a round
AT_MOST = 1.5  # times the sign-in page's
# Lighthouse's desktop connection (10 Mbit/s, a round trip of 40 ms), which decides; and the machine itself.
CONNECTIONS = {"desktop connection": {"latency": 40, "downloadThroughput": 1_310_720, "uploadThroughput": 1_310_720}}
CONNECTIONS["loopback"] = {"latency": 0, "downloadThroughput": -1, "uploadThroughput": -1}
CACHES = ("empty cache", "full cache")
SIGN_IN, OVERVIEW = "sign-in page", "overview"
PAINTED = """new Promise((done) => new PerformanceObserver((list) => done(list.getEntries().at(-1).startTime))
    .observe({ type: "largest-contentful-paint", buffered: true }))"""


async def paints(plan: Plan, folder: Path) -> list[Line]:
    """Measure both pages in turn, with an empty cache and with a full one; the sample's last 30 days are shown."""
    url = f"sqlite+aiosqlite:///{folder}/svc.db"
    await upgrade(url)
    async with storage.opened(url) as store:
        made = await store.write(sample.create, password_hash="none", at=datetime.now(UTC))
        account = await store.read(sessions.account, made.owner_email)
        assert account
        token = (await store.write(sessions.start, account.user_id, at=datetime.now(UTC))).token
    paths = {SIGN_IN: "/sign-in", OVERVIEW: f"/programs/{made.programs[0][0]}"}
    kinds = list(product(CONNECTIONS, CACHES))
    taken: dict[tuple[str, str, str], list[float]] = {(name, *kind): [] for kind in kinds for name in paths}
    with servers.service(url) as server:
        async with chromium.launched() as browser:
            for _, connection, name in product(range(plan.rounds * LOADS), CONNECTIONS, paths):
                cookie = token if name == OVERVIEW else ""
                base_url = f"http://127.0.0.1:{server.port}"
                painted = await _visit(browser, base_url, paths[name], cookie, CONNECTIONS[connection])
                for cache, millis in zip(CACHES, painted, strict=True):
                    taken[name, connection, cache].append(millis)
    return [_line(name, kind, taken) for kind in kinds for name in paths]


async def _visit(
    browser: Browser, base_url: str, path: str, token: str, connection: dict[str, int]
) -> tuple[float, float]:
    """Return the milliseconds to the largest paint of the first visit and of the second one."""
    context = await browser.new_context(base_url=base_url, viewport={"width": 1440, "height": 900})
    if token:
        await context.add_cookies([{"name": "svc_session", "value": token, "url": base_url}])
    page = await context.new_page()
    session = await context.new_cdp_session(page)
    await session.send("Network.enable")
    await session.send("Network.emulateNetworkConditions", {"offline": False, **connection})
    paints = await _painted(page, path), await _painted(page, path)
    await context.close()
    return paints


async def _painted(page: Page, path: str) -> float:
    await page.goto(path, wait_until="networkidle")
    painted: float = await page.evaluate(PAINTED)
    return painted


def _line(name: str, kind: tuple[str, str], taken: dict[tuple[str, str, str], list[float]]) -> Line:
    millis = taken[name, *kind]
    promises = (_compared(millis, taken[SIGN_IN, *kind], kind[0]),) if name == OVERVIEW else ()
    middle = median(millis)
    what = f"largest paint of the {name}, {', '.join(kind)}"
    return Line(what, 1000 / middle, middle, quantiles(millis, n=100)[98], promises)


def _compared(overview: list[float], sign_in: list[float], connection: str) -> Ceiling | Ratio:
    """Return how often the sign-in page's paint fits in the overview's, by the medians of each round."""
    rounds = [
        median(overview[begin : begin + LOADS]) / median(sign_in[begin : begin + LOADS])
        for begin in range(0, len(overview), LOADS)
    ]
    if connection == "loopback":
        return Ratio("the sign-in page", median(rounds))
    what = f"the sign-in page's: rounds {min(rounds):.2f} to {max(rounds):.2f}, median"
    return Ceiling(what, median(rounds), AT_MOST, "times")
