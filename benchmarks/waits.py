"""What a person waits for: the overview's largest paint in Chromium, and `svc reconcile` over 50,000 payments."""

import asyncio
import json
import os
import subprocess
import sys
import tempfile
from datetime import UTC, datetime
from functools import partial
from itertools import product
from pathlib import Path

from playwright.async_api import Browser

import storage
from benchmarks import calls, servers, world
from benchmarks.load import Driver, timed
from benchmarks.results import Line, Plan, Subject, compare
from benchmarks.servers import SQLITE, running
from cli.demo import sample
from storage.access import sessions
from storage.migrations import upgrade
from tests import chromium

CONNECTIONS = {  # the first is Lighthouse's for desktops, and decides
    "10 Mbit/s, 40 ms": {"latency": 40, "downloadThroughput": 1_310_720, "uploadThroughput": 1_310_720},
    "loopback": {"latency": 0, "downloadThroughput": -1, "uploadThroughput": -1},
}
PAINTED = """new Promise((done) => new PerformanceObserver((list) => done(list.getEntries().at(-1).startTime / 1000))
    .observe({ type: "largest-contentful-paint", buffered: true }))"""
PAYMENTS, CUSTOMERS = 50_000, 5_000


async def pages(plan: Plan) -> list[Line]:
    """Measure the overview beside the sign-in page; the sample's last 30 days are shown."""
    subjects = {}
    with servers.databases(SQLITE) as databases:
        url = await databases.create("service")
        await upgrade(url)
        async with storage.opened(url, patient=True) as store:
            made = await store.write(sample.create, password_hash="none", at=datetime.now(UTC))
            token = (await store.write(sessions.start, 1, at=datetime.now(UTC))).token
        with running("service", url) as server:
            async with chromium.launched() as browser:
                for link, (cache, visits) in product(CONNECTIONS, (("empty", 1), ("full", 2))):
                    how = partial(_paint, browser, server.port, token=token, visits=visits, over=CONNECTIONS[link])
                    sign_in = partial(how, "/sign-in")
                    overview = partial(how, f"/programs/{made.programs[0][0]}")
                    name, target = f"{link}, {cache} cache", None if link == "loopback" else 0.67
                    subjects[f"sign-in page, {name}"] = Subject(timed(sign_in, 3))  # 0.67: it takes 1.5 times as long
                    subjects[f"overview, {name}"] = Subject(timed(overview, 3), {f"sign-in page, {name}": target})
                return await compare(subjects, plan)


async def _paint(browser: Browser, port: int, path: str, *, token: str, visits: int, over: dict[str, int]) -> float:
    """Return the seconds to the largest paint of the last of some visits."""
    base_url = f"http://127.0.0.1:{port}"
    context = await browser.new_context(base_url=base_url, viewport={"width": 1440, "height": 900})
    if path != "/sign-in":
        await context.add_cookies([{"name": "svc_session", "value": token, "url": base_url}])
    page = await context.new_page()
    network = await context.new_cdp_session(page)
    await network.send("Network.enable")
    await network.send("Network.emulateNetworkConditions", {"offline": False, **over})
    for _ in range(visits):
        await page.goto(path, wait_until="networkidle")
        seconds: float = await page.evaluate(PAINTED)
    await context.close()
    return seconds


async def reconcile(plan: Plan) -> list[Line]:
    """Measure the whole command over an export whose every payment is recorded but each hundredth."""
    export = ["id,PaymentIntent ID,Created date (UTC),Amount,Currency,Status,svc_customer_key (metadata)"]
    async with world.served(customers=CUSTOMERS) as (shop, server):
        recorded, paid_at, key = [], datetime.now(UTC), calls.bearer(shop.programs[0].key)
        for n in range(PAYMENTS):
            customer = shop.customers[n % CUSTOMERS]
            export.append(f"ch_{n},pi_{n},{paid_at:%Y-%m-%d %H:%M:%S},{100 + n / 100:.2f},usd,Paid,{customer}")
            sale = {"transaction_id": f"pi_{n}", "amount_cents": 10_000 + n, "customer_key": customer}
            if n % 100:
                recorded.append(calls.request(calls.SALE, sale, key))
        await Driver(server, iter(recorded), calls.RECORDED)()
        with tempfile.TemporaryDirectory() as folder:
            url = f"http://127.0.0.1:{server.port}"
            file, login = Path(folder) / "payments.csv", Path(folder) / "svc" / "login.json"
            file.write_text("\n".join(export), encoding="utf-8")
            login.parent.mkdir()
            kept = {"base_url": url, "token": shop.session, "email": "", "expires_at": "2999-01-01"}
            login.write_text(json.dumps(kept), encoding="utf-8")
            command = timed(lambda: asyncio.to_thread(_reconcile, file, url))
            return await compare({f"svc reconcile, {PAYMENTS:,} payments": Subject(command, p99_ms=10_000)}, plan)


def _reconcile(file: Path, url: str) -> None:
    own = {"XDG_CONFIG_HOME": str(file.parent), "SERVICE_BASE_URL": url, "PYTHONPATH": str(servers.ROOT)}
    command = [sys.executable, "-m", "cli", "reconcile", str(file), "--program", "1", "--json"]
    done = subprocess.run(command, env=os.environ | own, cwd=file.parent, capture_output=True, check=False)
    assert len(json.loads(done.stdout)["findings"]) == PAYMENTS // 100, done.stderr
