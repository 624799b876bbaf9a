"""Assistants' calls: a tool that does nothing, get_program against a bare route with the same read, and memory."""

import os
from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import cycle, repeat
from pathlib import Path
from typing import Any

import storage
from benchmarks import calls, growth, servers, world
from benchmarks.load import drive
from benchmarks.results import Ceiling, Line, Ratio, Spread, line
from benchmarks.rounds import Plan, Rates, Subject, alternate
from mcp_server.tools import ALL
from storage.access import agent_keys
from storage.rules.scope import Scope

MODERN, HANDSHAKE = "2026-07-28", "2025-11-25"
BARE, SAME_READ, NOOP = "bare route", "bare route, same read", "no-op tool"
FEW_CLIENTS, LONGEST_P99_MS = 4, 15
MOST_GROWTH_MB = 20
ANSWERED = b'"isError":false'


async def costs(plan: Plan, folder: Path) -> list[Line]:
    """Measure the SDK's transport alone, and in both eras get_program with its key, scope, program and rate limit."""
    url, shop, key = await _prepared(folder)
    os.environ["SVC_MCP_RATE"] = "1000000000/minute"
    with servers.bare() as bare, servers.beside(url) as beside, servers.service(url) as service:
        requests = repeat(calls.request("/program", {"program_id": 1}))
        subjects = {BARE: Subject(bare, calls.clicks(shop, "/echo")), SAME_READ: Subject(beside, requests)}
        for version in (MODERN, HANDSHAKE):
            call = repeat(_call("get_program", {"program_id": 1}, key, version))
            if version == MODERN:  # the service answers the older protocol's tool calls without the SDK's transport
                subjects[NOOP] = Subject(beside, call, ANSWERED)
            subjects[f"get_program, {version}"] = Subject(service, call, ANSWERED)
        rates = await alternate(subjects, plan)
        few = [await _few(service, key, version, plan) for version in (MODERN, HANDSHAKE)]
    bare_rates, same = rates[BARE], rates[SAME_READ]
    lines = [
        line("bare Starlette route (MCP's run)", bare_rates, Spread(min(bare_rates.rounds), max(bare_rates.rounds))),
        line("bare route with get_program's read", same, Ratio("bare", same.over(bare_rates))),
    ]
    noop = rates[NOOP]
    lines.append(line(f"no-op tool, {MODERN}, no key", noop, Ratio("bare", noop.over(bare_rates), 0.17)))
    for version in (MODERN, HANDSHAKE):
        tool = rates[f"get_program, {version}"]
        lines.append(line(f"get_program, {version}", tool, *_ratios(tool, bare_rates, same)))
    return lines + few


def _ratios(tool: Rates, bare: Rates, same: Rates) -> tuple[Ratio, Ratio]:
    return Ratio("the same read", tool.over(same), 0.55), Ratio("bare", tool.over(bare))


async def _few(service: servers.Server, key: str, version: str, plan: Plan) -> Line:
    call = repeat(_call("get_program", {"program_id": 1}, key, version))
    load = await drive(service.port, call, seconds=plan.seconds, expected=ANSWERED, connections=FEW_CLIENTS)
    p99 = Ceiling("p99", load.p99_ms, LONGEST_P99_MS, "ms")
    return Line(f"get_program, {version}, {FEW_CLIENTS} clients", load.rate, load.p50_ms, load.p99_ms, (p99,))


async def memory(plan: Plan, folder: Path) -> list[Line]:
    """Measure how much the server grows over many calls of every tool in both eras, after a warm-up."""
    url, shop, key = await _prepared(folder)
    os.environ["SVC_MCP_RATE"] = "1000000000/minute"
    mixed = _mixed(key)
    with servers.service(url) as server:
        await drive(server.port, calls.clicks(shop), count=1_000, expected=calls.RECORDED)
        await drive(server.port, mixed, count=plan.mcp_calls // 5, expected=b"jsonrpc")
        before = growth.resident_mb(server.pid)
        load = await drive(server.port, mixed, count=plan.mcp_calls, expected=b"jsonrpc")
        grown = growth.resident_mb(server.pid) - before
    ceiling = Ceiling(f"memory from {before:.0f} MB by", grown, MOST_GROWTH_MB, "MB")
    return [Line(f"{plan.mcp_calls:,} mixed MCP calls", load.rate, load.p50_ms, load.p99_ms, (ceiling,))]


def _mixed(key: str) -> Iterator[bytes]:
    """Return calls of every tool, also rejected ones, in both eras, without end."""
    requests = [
        _call(tool.name, {} if tool.name == "list_programs" else {"program_id": program_id}, key, version)
        for tool in ALL
        for program_id in (1, 99)
        for version in (MODERN, HANDSHAKE)
    ]
    return cycle(requests)


async def _prepared(folder: Path) -> tuple[str, world.World, str]:
    url = f"sqlite+aiosqlite:///{folder / 'mcp.db'}"
    shop = await world.create(url, customers=200)
    async with storage.opened(url) as store:
        at = datetime.now(UTC)
        issued = await store.write(agent_keys.issue, 1, name="Load", scopes=tuple(Scope), at=at)
    return url, shop, issued.secret


def _call(tool: str, arguments: dict[str, Any], key: str, version: str) -> bytes:
    params: dict[str, Any] = {"name": tool, "arguments": arguments}
    headers = {"Authorization": f"Bearer {key}", "Accept": "application/json", "MCP-Protocol-Version": version}
    if version == MODERN:
        meta = {"protocolVersion": version, "clientCapabilities": {}}
        params["_meta"] = {f"io.modelcontextprotocol/{name}": value for name, value in meta.items()}
        headers |= {"Mcp-Method": "tools/call", "Mcp-Name": tool}
    return calls.request("/mcp", {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}, headers)
