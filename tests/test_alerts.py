"""Each alert of deploy/alerts.yaml fires in the outage that it is for, by what the real service says, and else none."""

import asyncio
import json
import os
import re
import resource
import subprocess
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families
from sqlalchemy import Connection, text

from storage import Storage
from tests import proxy, serving
from tests.proxy import Proxy
from tests.test_deploy import DEPLOY
from web import metrics

pytestmark = pytest.mark.postgresql  # the suite that has promtool
RULES = DEPLOY / "alerts.yaml"
ALERTS = re.findall(r"alert: (\w+)", RULES.read_text(encoding="utf-8"))
USED = set(re.findall(r"\b(?:svc|process)_\w+", RULES.read_text(encoding="utf-8")))
GROWS = re.compile(r"_(total|bucket|sum|count){")
TOKEN = "a token of Prometheus"
MINUTES, DAY = 240, 1_440
CLICKS = 'svc_requests_total{route="/api/v1/track/click",status="200"}'
UP = 'up{job="svc"}'
Scrape = dict[str, float]


class Scene(NamedTuple):
    """The whole service over a database and its replica, each behind a proxy."""

    client: httpx.AsyncClient
    store: Storage
    primary: Proxy
    replica: Proxy

    async def scrape(self) -> Scrape:
        """Return the series that alerts use, as Prometheus stores them."""
        answer = await self.client.get("/metrics", headers={"Authorization": f"Bearer {TOKEN}"})
        families = text_string_to_metric_families(answer.raise_for_status().text)
        samples = [each for family in families for each in family.samples if each.name in USED]
        return {UP: 1.0} | {series(each.name, job="svc", **each.labels): each.value for each in samples}


def series(metric: str, **labels: str) -> str:
    return f"{metric}{{{','.join(f'{name}={json.dumps(value)}' for name, value in labels.items())}}}"


@pytest.fixture
async def scene(postgres_url: str) -> AsyncIterator[Scene]:
    async with AsyncExitStack() as stack:
        primary, replica = [await stack.enter_async_context(proxy.before(postgres_url)) for _ in range(2)]
        urls: dict[str, Any] = {"database_url": primary.url, "read_database_url": replica.url}
        served = serving.in_the_loop(**urls, rate_limit=False, metrics_token=TOKEN)
        client, store = await stack.enter_async_context(served)
        for failed in (False, True):
            metrics.count_round("a task", failed=failed)
        metrics.count_round("housekeeping", failed=False)
        assert store.replica
        async with asyncio.timeout(20):
            while (await client.get("/readyz")).status_code != 200 or store.replica.lag_seconds is None:
                pass
        yield Scene(client, store, primary, replica)
        for each in (primary, replica):
            each.flowing.set()


async def lose(scene: Scene, database: Proxy, shows: str) -> None:
    """Lose a database, and wait until that shows at /readyz."""
    database.lose_connections = True
    database.cut()
    async with asyncio.timeout(20):
        while shows not in (await scene.client.get("/readyz")).text:
            pass


async def hold_writes(scene: Scene) -> None:
    scene.primary.flowing.clear()
    waiting = [asyncio.ensure_future(scene.store.write(slow, 0)) for _ in range(6_000)]
    await asyncio.wait(waiting, timeout=0)
    asyncio.gather(*waiting, return_exceptions=True)


def slow(connection: Connection, seconds: float) -> None:
    connection.execute(text("SELECT pg_sleep(:seconds)"), {"seconds": seconds})


async def write_slowly(scene: Scene) -> None:
    started = asyncio.Event()

    def start(connection: Connection) -> None:
        started.set()
        slow(connection, 2)

    first = asyncio.ensure_future(scene.store.write_in(1, start))
    await started.wait()
    await scene.store.write_in(1, slow, 0)  # which waits for the first
    await first


async def reject(scene: Scene) -> None:
    answers = [await scene.client.post("/api/v1/track/click", json={"program_id": 77}) for _ in range(20)]
    assert {answer.status_code for answer in answers} == {400}


async def fail(_: Scene) -> None:
    metrics.count_request({"type": "http", "route_path": "/", "error_code": "internal_error"}, 500, 0.0)
    metrics.count_round("a task", failed=True)


async def use_files(_: Scene) -> None:
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (len(os.listdir("/proc/self/fd")) + 5, most))  # noqa: PTH208 - at once


OUTAGES: dict[str, Callable[[Scene], Awaitable[None]]] = {
    "StorageUnavailable": lambda scene: lose(scene, scene.primary, "storage_unavailable"),
    "ReplicaDown": lambda scene: lose(scene, scene.replica, "replica"),
    "WritesQueue": hold_writes,
    "WritesWait": write_slowly,
    "SlowCommits": write_slowly,
    "CallsRejected": reject,
    "ServerErrors": fail,
    "TaskFails": fail,
    "FilesRunOut": use_files,
}
SAID: dict[str, dict[str, str]] = {  # what no service of the tests can show: the series, and their values by minutes
    "ServiceDown": {UP: f"0x{MINUTES}"},
    "NodeDown": {series("svc_storage_available", purpose="node worker-1:5432"): f"0x{MINUTES}"},
    "ReplicaLags": {"svc_replica_lag_seconds": f"45x{MINUTES}"},
    "HousekeepingStands": {
        series("svc_background_done_timestamp_seconds", job="svc", task="housekeeping"): f"0x{MINUTES}"
    },
    "DiskFills": {"svc_disk_free_ratio": f"0.05x{MINUTES}"},
    "NoClicks": {CLICKS: f"0+5x{DAY - 60} {5 * (DAY - 60)}x{MINUTES}"},
}


@pytest.mark.parametrize("alert", ALERTS)
async def test_an_alert_fires_in_its_outage(scene: Scene, tmp_path: Path, alert: str):
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    healthy = await scene.scrape()
    if alert in OUTAGES:
        await OUTAGES[alert](scene)
        try:
            troubled = await scene.scrape()
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, limits)
        shown = by_minutes(healthy, troubled)
    else:
        shown = by_minutes(healthy, healthy) | SAID[alert]

    assert check(tmp_path, by_minutes(healthy, healthy), "count(ALERTS{alertstate='firing'})", []) == ""
    firing = f"count(ALERTS{{alertname='{alert}',alertstate='firing'}}) > bool 0"
    assert check(tmp_path, shown, firing, [{"labels": "{}", "value": 1}]) == ""


def by_minutes(before: Scrape, after: Scrape) -> dict[str, str]:
    """Return the values of series when each minute brings what happened between two scrapes."""
    values = {}
    for name, value in after.items():
        step, first = 0.0, value
        if GROWS.search(name):
            first = before.get(name, 0.0)
            step = value - first
        elif "_timestamp_" in name:
            first, step = 0.0, 60.0  # minutes begin at 1970
        values[name] = f"{first:f}+{step:f}x{MINUTES}"
    return values


def check(folder: Path, values: dict[str, str], expression: str, expected: list[Any]) -> str:
    """Return what promtool says against an expression's value after four hours, or at that time of the next day."""
    at = f"{DAY + 20 if any(f'x{DAY - 60}' in each for each in values.values()) else MINUTES - 10}m"
    inputs = [{"series": name, "values": sequence} for name, sequence in values.items()]
    tested = {"expr": expression, "eval_time": at, "exp_samples": expected}
    test = {"interval": "1m", "input_series": inputs, "promql_expr_test": [tested]}
    file = folder / "test.yaml"
    file.write_text(json.dumps({"rule_files": [str(RULES)], "evaluation_interval": "1m", "tests": [test]}))
    done = subprocess.run(["promtool", "test", "rules", str(file)], capture_output=True, text=True, check=False)
    return "" if done.returncode == 0 else done.stdout + done.stderr
