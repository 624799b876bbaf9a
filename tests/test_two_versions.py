"""The release before, still running, on a database that this version has migrated: calls to both make one history."""

import asyncio
import sys
import tarfile
from collections.abc import Iterator
from datetime import UTC, datetime
from http import HTTPStatus
from pathlib import Path
from typing import Any

import httpx
import pytest
from alembic import command
from sqlalchemy import Connection, insert

import storage
from storage import migrations
from storage.checks import books
from storage.engine import database
from storage.reports import performance
from storage.rules import keys
from storage.rules.periods.period import DateRangeQuery
from tests import shops
from tests.serving import Serve
from tests.storage.reports.rows import SUMS
from tests.storage.test_upgrades import fill, reflected

RELEASED, REVISION = Path(__file__).parent / "released" / "0.3.0.tar.xz", "0037"
KEY = keys.generate_program_key(1)
BROWSER = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) Chrome/140.0.0.0"


@pytest.fixture
def released(empty_postgres_url: str, tmp_path: Path) -> Iterator[str]:
    """Serve the last release on a database of its schema with a program; give its URL."""
    with tarfile.open(RELEASED) as archive:
        archive.extractall(tmp_path, filter="data")
    asyncio.run(_prepare(empty_postgres_url))
    settings = {"SVC_DATABASE_URL": empty_postgres_url, "SVC_RATE_LIMIT": "off", "PYTHONPATH": str(tmp_path)}
    command = [sys.executable, "-W", "ignore", "-m", "cli", "serve", "--port", "PORT"]
    with shops.running(command, "Serving on", cwd=tmp_path, log=tmp_path / "log", **settings) as (port, _):
        assert httpx.get(f"http://127.0.0.1:{port}/readyz", timeout=60).status_code == HTTPStatus.OK
        yield f"http://127.0.0.1:{port}"


async def _prepare(url: str) -> None:
    [writer, *_] = lanes = database.lanes(database.parse_url(url))[0]
    await writer.run(lambda connection: command.upgrade(migrations.config_for(connection), REVISION))
    await writer.run(_fill)
    await asyncio.gather(*(lane.close() for lane in lanes))


def _fill(connection: Connection) -> None:
    fill(connection, "0.2.0", "workspaces", "programs", "commission_terms", "partners")
    key = {"key_hash": keys.digest(KEY), "prefix": keys.PROGRAM_PREFIX, "last4": KEY[-4:], "created_at": 1}
    connection.execute(insert(reflected(connection, "program_keys")), [key | {"program_id": 1}])


def call(url: str, kind: str, **body: Any) -> dict[str, Any]:
    headers = {"User-Agent": BROWSER, "Authorization": f"Bearer {KEY}"}
    with httpx.Client(base_url=url, headers=headers, timeout=20) as client:
        answer: dict[str, Any] = client.post(f"/api/v1/track/{kind}", json=body).raise_for_status().json()
    return answer


def buy(number: int, click: str, lead: str, sale: str, refund: str) -> int:
    """Make a customer's calls, each to a service of its own, every second with a refund; return the commission."""
    clicked = call(click, "click", program_id=1, affiliate_url="https://acme.example/?aff=anna")
    call(lead, "lead", click_id=clicked["click_id"], customer_key=f"user-{number}")
    sold = call(sale, "sale", transaction_id=f"inv-{number}", customer_key=f"user-{number}", amount_cents=5_000)
    if number % 2:
        call(refund, "refund", transaction_id=f"inv-{number}")
    cents: int = sold["data"]["commission_cents"]
    return cents


def test_the_last_release_goes_on_beside_this_on_the_new_schema(released: str, empty_postgres_url: str, serve: Serve):
    earned = [buy(0, released, released, released, released)]
    asyncio.run(migrations.upgrade(empty_postgres_url))
    new = serve(empty_postgres_url).base_url

    earned.append(buy(1, released, new, released, new))
    earned.append(buy(2, new, released, new, released))
    earned.append(buy(3, released, released, released, released))

    assert earned == [1_000] * 4
    assert asyncio.run(_history(empty_postgres_url)) == ((4, 4, 4, 2, 2 * 5_000, 2 * 1_000), [])


async def _history(url: str) -> tuple[tuple[int, ...], list[str]]:
    """Return the report's totals, and what disagrees with the events but for the partners, whom no release enrolled."""
    async with storage.opened(url) as store:
        report = await store.read(performance.read_performance, 1, DateRangeQuery("all"), at=datetime.now(UTC))
        found = [each.what for each in await store.read(books.run) if not each.what.endswith(" partners")]
        return tuple(getattr(report.current, name) for name in SUMS), found
