"""What reads cost: reports over few and many stored clicks, and assistants' calls, on SQLite."""

import asyncio
from collections.abc import Awaitable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import cycle, product, repeat
from typing import Any

from sqlalchemy import Connection, select, text

import storage
from benchmarks import calls, servers, world
from benchmarks.load import Driver, timed
from benchmarks.results import Line, Plan, Subject, compare
from benchmarks.servers import SQLITE, running
from benchmarks.world import World
from benchmarks.writes import BARE, FEW_CLICKS, grown
from mcp_server.tools import ALL
from storage import Reader
from storage.engine.audit import OPERATOR, By
from storage.management import payout_sending, payouts
from storage.reports import performance
from storage.reports.backtest import Backtest
from storage.rules.draft import DraftChange
from storage.rules.periods.period import DateRangeQuery, Period
from storage.tables import sales

GROUP_BY = text("""SELECT date(at / 1000, 'unixepoch') AS day, count(*) FROM clicks
WHERE program_id = 1 AND at >= 1000 * unixepoch('now', 'start of day', '-29 days') GROUP BY day""")
PAID_BY = text("INSERT INTO payout_methods SELECT program_id, id, 'other', '', '', 0, 0, NULL FROM partners")
ERAS = ("2026-07-28", "2025-11-25")
ANSWERED = b'"isError":false'
SAME_READ = "bare route with get_program's read"


async def reports(plan: Plan) -> list[Line]:
    """Measure reports of one program with few and with many clicks through the service's own reader."""
    few, many = (f"report of 30 days, {number:,} clicks" for number in (FEW_CLICKS, plan.many_clicks))
    grouped = "GROUP BY over 30 days"
    with servers.databases(SQLITE) as databases:
        urls = [await databases.create(name) for name in ("few", "many")]
        for url, number in zip(urls, (FEW_CLICKS, plan.many_clicks), strict=True):
            await world.load_clicks(url, await world.create(url), number, datetime.now(UTC) - timedelta(days=180))
            await world.roll_up(url)
        async with storage.opened(urls[0]) as small, storage.opened(urls[1]) as large:
            reported, counted = await _report(large), await _rows(large, GROUP_BY)
            assert reported.current.clicks == sum(row[1] for row in counted), "the report's sum is not the clicks'"
            subjects = {
                few: Subject(timed(lambda: _report(small), 40)),
                many: Subject(timed(lambda: _report(large), 40), {few: 0.67, grouped: 200}),
                grouped: Subject(timed(lambda: _rows(large, GROUP_BY))),
            }
            return await compare(subjects, plan)


def _report(store: Reader) -> Awaitable[Any]:
    return store.read(performance.read_performance, 1, DateRangeQuery(Period.THIRTY_DAYS), at=datetime.now(UTC))


def _rows(store: Reader, statement: Any) -> Awaitable[Any]:
    return store.read(lambda connection: connection.execute(statement).all())


async def computed(plan: Plan) -> list[Line]:
    """Measure reading 100,000 sales, their backtest (10 seconds at most), and their payout to 1,000 partners (5)."""
    at, reading = datetime.now(UTC), "reading 100,000 sales"
    with servers.databases(SQLITE) as databases:
        url = await databases.create("sold")
        shop = await world.create(url, customers=1_000, codes=[f"partner-{n}" for n in range(1_000)])
        async with storage.opened(url, patient=True) as store:
            acme = replace(shop.programs[0], store=store)
            for n in range(99):  # beside the first sale of each
                await asyncio.gather(*(acme.sale(f"{n}-{key}", customer_key=key, at=at) for key in shop.customers))
            assert len(await _rows(store, select(sales))) == await _backtest(store)
            for statement in (text("UPDATE commissions SET status = 'approved'"), PAID_BY):
                await world.execute(url, statement)
            pay = partial(store.write, _pay, by=By(OPERATOR, at))
            subjects = {
                reading: Subject(timed(lambda: _rows(store, select(sales)))),
                "backtest of them": Subject(timed(partial(_backtest, store)), {reading: 0.1}, p99_ms=10_000),
                "payout of them": Subject(timed(pay), {reading: 0.1}, p99_ms=5_000),
            }
            return await compare(subjects, plan)


def _pay(connection: Connection, /, *, by: By) -> None:
    """Draft and send a payout of everything, then take both back."""
    with connection.begin_nested() as both:
        payout = payouts.draft(connection, 1, earned_until=by.at.date(), by=by)
        sent = payout_sending.send(connection, 1, payout.id, paid_on=by.at.date(), reference="all", by=by)
        assert (sent.partners, sent.commissions) == (1_000, 100_000)
        both.rollback()


async def _backtest(store: Reader) -> int:
    running = await store.read(Backtest, 1, [DraftChange({"commission_rate": 25})], days=366, at=datetime.now(UTC))
    while not running.is_done:
        await store.read(running.step, 1)
    return (await store.read(running.result, 1)).sales


async def mcp(plan: Plan) -> list[Line]:
    """Measure the SDK's transport alone, and in both eras get_program with its key, scope, program and rate limit."""
    with servers.databases(SQLITE) as databases, running("ceilings:bare") as bare:
        shop = await world.create(url := await databases.create("service"), customers=200)
        modern, earlier = (repeat(_call(shop, era)) for era in ERAS)
        with running("ceilings:reading", url) as reading, running("service", url) as service:
            subjects = {
                BARE: Subject(Driver(bare, calls.clicks(shop, "/echo"))),
                SAME_READ: Subject(Driver(reading, repeat(calls.request("/program", {"program_id": 1}))), {BARE: None}),
                # The service answers the earlier protocol's tool calls without the SDK's transport.
                f"no-op tool, {ERAS[0]}, no key": Subject(Driver(reading, modern, ANSWERED), {BARE: 0.17}),
            }
            for era, requests in zip(ERAS, (modern, earlier), strict=True):
                few, of = Driver(service, requests, ANSWERED, connections=4), {SAME_READ: 0.55, BARE: None}
                subjects[f"get_program, {era}"] = Subject(Driver(service, requests, ANSWERED), of)
                subjects[f"get_program, {era}, 4 clients"] = Subject(few, {BARE: None}, p99_ms=15)
            return await compare(subjects, plan)


async def memory(plan: Plan) -> list[Line]:
    """Measure how much a server grows over many clicks, then calls of every tool in both eras, also rejected ones."""
    with servers.databases(SQLITE) as databases:
        shop = await world.create(url := await databases.create("service"), customers=200)
        with running("service", url) as service:
            clicked = await grown("clicks on end, SQLite", Driver(service, calls.clicks(shop)), plan.many_clicks // 10)
            mixed = cycle([_call(shop, era, tool.name, number) for tool, number, era in product(ALL, (1, 99), ERAS)])
            called = await grown("mixed MCP calls", Driver(service, mixed, b"jsonrpc"), plan.many_clicks // 200)
    return [clicked, called]


def _call(shop: World, era: str, tool: str = "get_program", program_id: int = 1) -> bytes:
    params: dict[str, Any] = {"name": tool, "arguments": {} if tool == "list_programs" else {"program_id": program_id}}
    headers = {**calls.bearer(shop.agent_key), "Accept": "application/json", "MCP-Protocol-Version": era}
    if era == ERAS[0]:
        meta = {"protocolVersion": era, "clientCapabilities": {}}
        params["_meta"] = {f"io.modelcontextprotocol/{name}": value for name, value in meta.items()}
        headers |= {"Mcp-Method": "tools/call", "Mcp-Name": tool}
    return calls.request("/mcp", {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}, headers)
