"""What `svc reconcile` takes for 50,000 payments, the whole command against a live server, beside reading the file."""

import asyncio
import csv
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import storage
from benchmarks import servers, world
from benchmarks.results import Ceiling, Line, Ratio, line
from benchmarks.rounds import Plan, Rates
from storage.access import sessions
from storage.tracking import sales
from storage.tracking.sales import Sale

PAYMENTS, CUSTOMERS = 50_000, 5_000
AT_ONCE = 2_000
COLUMNS = (
    "id",
    "Created date (UTC)",
    "Amount",
    "Amount Refunded",
    "Currency",
    "Status",
    "PaymentIntent ID",
    "Customer ID",
)
KEY = "svc_customer_key (metadata)"


async def reconcile(plan: Plan, folder: Path) -> list[Line]:
    """Measure an export whose every payment is recorded but each hundredth, on SQLite."""
    url = f"sqlite+aiosqlite:///{folder / 'reconcile.db'}"
    shop = await world.create(url, customers=CUSTOMERS)
    begun = datetime.now(UTC) - timedelta(hours=12)
    token = await _sell(url, shop, begun)
    file = folder / "payments.csv"
    _write(file, shop, begun)
    read, whole = [], []
    with servers.service(url) as server:
        for _ in range(plan.rounds):
            read.append(_timed(lambda: sum(1 for _ in csv.DictReader(file.open(newline="", encoding="utf-8")))))
            whole.append(_timed(lambda: _command(file, folder, f"http://127.0.0.1:{server.port}", token)))
    reading, reconciling = _rates(read), _rates(whole)
    beside = Ratio("reading the file alone", reconciling.over(reading))
    return [
        line("reading a payment's row", reading),
        line("svc reconcile, a payment", reconciling, beside, Ceiling(f"{PAYMENTS:,} payments", max(whole), 10, "s")),
    ]


async def _sell(url: str, shop: world.World, begun: datetime) -> str:
    """Record all payments but each hundredth; return the token of the owner's session."""
    async with storage.opened(url) as store:
        for first in range(0, PAYMENTS, AT_ONCE):
            numbers = [number for number in range(first, first + AT_ONCE) if number % 100]
            await asyncio.gather(
                *(
                    world.handle(store, sales.record, _sale(shop, number, begun), key=shop.key, at=begun)
                    for number in numbers
                )
            )
        started = await store.write(sessions.start, 1, at=datetime.now(UTC))
    token: str = started.token
    return token


def _sale(shop: world.World, number: int, begun: datetime) -> Sale:
    customer, at = shop.customers[number % CUSTOMERS], begun + timedelta(seconds=number // 2)
    return Sale(f"pi_{number}", 10_000 + number, at, customer_key=customer, occurred_at=at)


def _write(file: Path, shop: world.World, begun: datetime) -> None:
    with file.open("w", newline="", encoding="utf-8") as opened:
        writer = csv.writer(opened)
        writer.writerow([*COLUMNS, KEY])
        for number in range(PAYMENTS):
            sale = _sale(shop, number, begun)
            amount, customer = f"{sale.amount_cents / 100:.2f}", number % CUSTOMERS
            known = [f"ch_{number}", f"{sale.at:%Y-%m-%d %H:%M:%S}", amount, "0.00", "usd", "Paid"]
            writer.writerow([*known, sale.transaction_id, f"cus_{customer}", sale.customer_key])


def _command(file: Path, folder: Path, base_url: str, token: str) -> None:
    config = folder / "svc"
    config.mkdir(exist_ok=True)
    kept = {"base_url": base_url, "token": token, "email": "o@shop.example", "expires_at": "2999-01-01"}
    (config / "login.json").write_text(json.dumps(kept))
    environment = os.environ | {
        "XDG_CONFIG_HOME": str(folder),
        "SERVICE_BASE_URL": base_url,
        "PYTHONPATH": str(servers.ROOT),
    }
    command = [sys.executable, "-m", "cli", "reconcile", str(file), "--program", "1", "--json"]
    done = subprocess.run(command, env=environment, cwd=folder, capture_output=True, text=True, check=False)
    found = json.loads(done.stdout)
    assert len(found["findings"]) == PAYMENTS // 100, done.stdout[:400] + done.stderr


def _timed(work: Callable[[], object]) -> float:
    begun = time.perf_counter()
    work()
    return time.perf_counter() - begun


def _rates(seconds: list[float]) -> Rates:
    each_ms = [1000 * taken / PAYMENTS for taken in seconds]
    speeds = [PAYMENTS / taken for taken in seconds]
    return Rates(max(speeds), min(each_ms), max(each_ms), speeds, PAYMENTS * len(seconds))
