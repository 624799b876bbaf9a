"""What reads cost: reports over few and many stored clicks, and assistants' calls, on SQLite."""

from collections.abc import Awaitable
from datetime import UTC, datetime, timedelta
from itertools import cycle, product, repeat
from typing import Any

from sqlalchemy import Connection, text

import storage
from benchmarks import calls, servers, world
from benchmarks.load import Driver, timed
from benchmarks.results import Line, Plan, Subject, compare
from benchmarks.servers import SQLITE, running
from benchmarks.world import World
from benchmarks.writes import BARE, FEW_CLICKS, grown
from mcp_server.tools import ALL
from storage import Reader
from storage.reports import performance
from storage.rules.periods.period import DateRangeQuery, Period

GROUP_BY = text("""SELECT date(at / 1000, 'unixepoch') AS day, count(*) FROM clicks
WHERE program_id = 1 AND at >= 1000 * unixepoch('now', 'start of day', '-29 days') GROUP BY day""")
ERAS = ("2026-07-28", "2025-11-25")
ANSWERED = b'"isError":false'
SAME_READ = "bare route with get_program's read"


async def reports(plan: Plan) -> list[Line]:
    """Measure reports of one program with few and with many clicks through the service's own reader."""
    few, many = (f"report of 30 days, {number:,} clicks" for number in (FEW_CLICKS, plan.many_clicks))
    week, quarter, grouped = "report of 7 days", "report of 90 days", "GROUP BY over 30 days"
    with servers.databases(SQLITE) as databases:
        urls = [await databases.create(name) for name in ("few", "many")]
        for url, number in zip(urls, (FEW_CLICKS, plan.many_clicks), strict=True):
            await world.load_clicks(url, await world.create(url), number, datetime.now(UTC) - timedelta(days=180))
            await world.roll_up(url)
        async with storage.opened(urls[0]) as small, storage.opened(urls[1]) as large:
            reported, counted = await _report(large), await large.read(_group)
            assert reported.current.clicks == sum(row[1] for row in counted), "the report's sum is not the clicks'"
            subjects = {
                few: Subject(timed(lambda: _report(small), 40)),
                many: Subject(timed(lambda: _report(large), 40), {few: 0.67, grouped: 200}),
                week: Subject(timed(lambda: _report(large, Period.SEVEN_DAYS), 40)),
                quarter: Subject(timed(lambda: _report(large, Period.NINETY_DAYS), 40), {week: 0.33}),
                grouped: Subject(timed(lambda: large.read(_group))),
            }
            return await compare(subjects, plan)


def _report(store: Reader, period: Period = Period.THIRTY_DAYS) -> Awaitable[Any]:
    return store.read(performance.read_performance, 1, DateRangeQuery(period), at=datetime.now(UTC))


def _group(connection: Connection) -> list[Any]:
    return list(connection.execute(GROUP_BY))


async def mcp(plan: Plan) -> list[Line]:
    """Measure the SDK's transport alone, and in both eras get_program with its key, scope, program and rate limit."""
    with servers.databases(SQLITE) as databases, running("ceilings:bare") as bare:
        url = await databases.create("service")
        shop = await world.create(url, customers=200)
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


async def mcp_memory(plan: Plan) -> list[Line]:
    """Measure how much the server grows over many calls of every tool in both eras, also rejected ones."""
    async with world.served(customers=200) as (shop, service):
        mixed = cycle([_call(shop, era, tool.name, number) for tool, number, era in product(ALL, (1, 99), ERAS)])
        return [await grown("mixed MCP calls", Driver(service, mixed, b"jsonrpc"), plan.many_clicks // 200)]


def _call(shop: World, era: str, tool: str = "get_program", program_id: int = 1) -> bytes:
    params: dict[str, Any] = {"name": tool, "arguments": {} if tool == "list_programs" else {"program_id": program_id}}
    headers = {**calls.bearer(shop.agent_key), "Accept": "application/json", "MCP-Protocol-Version": era}
    if era == ERAS[0]:
        meta = {"protocolVersion": era, "clientCapabilities": {}}
        params["_meta"] = {f"io.modelcontextprotocol/{name}": value for name, value in meta.items()}
        headers |= {"Mcp-Method": "tools/call", "Mcp-Name": tool}
    return calls.request("/mcp", {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}, headers)
