"""What a flood of bad keys costs the good ones: sales alone, and beside 1,000 calls a second with unknown keys."""

import asyncio
import json
from collections.abc import Iterator
from contextlib import suppress
from itertools import count
from pathlib import Path
from time import perf_counter

from benchmarks import calls, servers, world
from benchmarks.load import HOST, Load, drive
from benchmarks.results import Line, Ratio, line
from benchmarks.rounds import WARM_UP_SECONDS, Plan, measured

CALLS_A_SECOND = 1_000
CONNECTIONS = 20
CUSTOMERS = 1_000


async def flood(plan: Plan, folder: Path) -> list[Line]:
    """Measure sales on SQLite, alone and under the flood, in alternating rounds."""
    url = f"sqlite+aiosqlite:///{folder / 'service.db'}"
    shop = await world.create(url, customers=CUSTOMERS)
    with servers.service(url) as service:
        sales = calls.sales(shop)
        warm = await drive(service.port, sales, seconds=WARM_UP_SECONDS, expected=calls.RECORDED)
        alone: list[Load] = []
        flooded: list[Load] = []
        sent = 0
        for _ in range(plan.rounds):
            alone.append(await drive(service.port, sales, seconds=plan.seconds, expected=calls.RECORDED))
            bad = asyncio.ensure_future(_bad_keys(service.port, plan.seconds))
            flooded.append(await drive(service.port, sales, seconds=plan.seconds, expected=calls.RECORDED))
            sent += await bad
    rates, under = measured(alone, warm.answers), measured(flooded, 0)
    rejected = round(sent / plan.seconds / plan.rounds)
    return [
        line("sale, alone", rates),
        line(f"sale, beside {rejected:,} bad keys a second", under, Ratio("alone", under.over(rates), 0.8)),
    ]


async def _bad_keys(port: int, seconds: float) -> int:
    """Send calls with unknown keys at a steady pace; return how many were rejected."""
    number, begun = count(), perf_counter()
    clients = (_client(port, number, begun, begun + seconds) for _ in range(CONNECTIONS))
    return sum(await asyncio.gather(*clients))


async def _client(port: int, number: Iterator[int], begun: float, end: float) -> int:
    reader, writer = await asyncio.open_connection(HOST, port)
    rejected = 0
    with suppress(ConnectionError):
        while (due := begun + (n := next(number)) / CALLS_A_SECOND) < end:
            await asyncio.sleep(max(0.0, due - perf_counter()))
            writer.write(calls.request(calls.SALE, _BODY, {"Authorization": f"Bearer aff_1_{n:043}"}))
            head = await reader.readuntil(b"\r\n\r\n")
            length = next(row for row in head.split(b"\r\n") if row.startswith(b"content-length"))
            await reader.readexactly(int(length.split(b":")[1]))
            rejected += head.startswith(b"HTTP/1.1 401")
    writer.close()
    return rejected


_BODY = json.loads('{"transaction_id": "t-1", "customer_key": "customer-1", "amount_cents": 4900}')
