"""What grows with an installation on PostgreSQL: stored clicks, programs and workers, with the cost of a click."""

import os
from collections.abc import Iterator
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from statistics import median

import asyncpg

from benchmarks import calls, servers, world
from benchmarks.load import Load, drive
from benchmarks.results import Cost, Line, Ratio, line
from benchmarks.rounds import WARM_UP_SECONDS, Plan, measured
from benchmarks.servers import Server
from storage.rules.month import Month
from tests.postgres import binaries

FEW_CLICKS = 10_000
PROGRAMS = 50
WORKERS = 2
CONNECTIONS = 256
_TICKS = os.sysconf("SC_CLK_TCK")
_CLICKS = """
INSERT INTO clicks
    (program_id, click_id, partner_id, at, landing_url, page_url, page_title, referrer_url, visitor, dimensions)
SELECT $1::bigint, lpad(to_hex(at), 12, '0') || substr(md5(random()::text), 1, 20) || '-' || to_hex($1::bigint),
    (SELECT min(id) FROM partners WHERE program_id = $1), at, 'https://shop.example/pricing/' || n || '?aff=partner-0',
    'https://shop.example/pricing/' || n, 'Pricing', 'https://news.example/',
    '{"language":"en-US","user_agent":"Mozilla/5.0 (Windows NT 10.0; Win64; x64) Chrome/140.0.0.0 Safari/537.36"}',
    '{"landing_path":"/pricing","device":"desktop","browser":"Chrome","os":"Windows","language":"en"}'
FROM (SELECT n, $3::bigint + n * $4::bigint AS at FROM generate_series(0, $2::bigint - 1) AS n) AS visits
"""


async def rows(plan: Plan, folder: Path) -> list[Line]:
    """Measure clicks over few and over many stored ones of this month; every fifth carries the id of a stored one."""
    if binaries() is None:
        return []
    with servers.postgres(folder / "postgres") as url, ExitStack() as running:
        postmaster = postmaster_of(folder / "postgres" / "data")
        requests, served = {}, {}
        for number in (FEW_CLICKS, plan.most_clicks):
            await servers.create_database(url, f"clicks_{number}")
            address = f"{url.rpartition('/')[0]}/clicks_{number}"
            shop = await world.create(address, programs=PROGRAMS)
            carried = await _load_clicks(address, shop.program_ids, number)
            name = f"click, PostgreSQL, {number:,} clicks stored"
            requests[name] = calls.clicks(shop, carried=carried)
            served[name] = running.enter_context(servers.service(address))
        return await _compare(plan, requests, served, postmaster, at_least=0.95)


async def _load_clicks(url: str, program_ids: list[int], number: int) -> list[str]:
    """Store clicks from the start of this month until now, and return the ids of some."""
    connection = await asyncpg.connect(url.replace("+asyncpg", ""))
    await connection.execute("SET synchronous_commit = off")
    each, now = number // len(program_ids), datetime.now(UTC)
    begin = int(Month.of(now).starts_at.timestamp() * 1000)
    step = max(1, (int(now.timestamp() * 1000) - begin) // each)
    for program_id in program_ids:
        await connection.execute(_CLICKS, program_id, each, begin, step)
    await connection.execute("VACUUM (ANALYZE) clicks")
    await connection.execute("CHECKPOINT")  # what the load left to write would slow the rounds
    some = "SELECT click_id FROM clicks WHERE program_id = $1 ORDER BY random() LIMIT 8"
    found = [row["click_id"] for program_id in program_ids[:20] for row in await connection.fetch(some, program_id)]
    await connection.close()
    return found


async def programs(plan: Plan, folder: Path) -> list[Line]:
    """Measure clicks of one program and of 50, with one worker and with two, and the processor time of each click."""
    if binaries() is None:
        return []
    with servers.postgres(folder / "postgres") as url, ExitStack() as running:
        postmaster = postmaster_of(folder / "postgres" / "data")
        requests, served = {}, {}
        for workers in (1, WORKERS):
            for number in (1, PROGRAMS):
                name = f"clicks of {number} program{'s' * (number > 1)}, {workers} worker{'s' * (workers > 1)}"
                database = f"programs_{number}_{workers}"
                await servers.create_database(url, database)
                address = f"{url.rpartition('/')[0]}/{database}"
                requests[name] = calls.clicks(await world.create(address, programs=number))
                served[name] = running.enter_context(servers.service(address, workers=workers))
        return await _compare(plan, requests, served, postmaster)


def postmaster_of(data: Path) -> int:
    """Return the process of the PostgreSQL with this data directory."""
    return int((data / "postmaster.pid").read_text(encoding="ascii").splitlines()[0])


async def _compare(
    plan: Plan,
    requests: dict[str, Iterator[bytes]],
    served: dict[str, Server],
    postmaster: int,
    at_least: float | None = None,
) -> list[Line]:
    loads: dict[str, list[Load]] = {name: [] for name in served}
    spent: dict[str, list[tuple[float, float]]] = {name: [] for name in served}
    for each in range(-1, plan.rounds):  # the first warms up
        for name, server in served.items():
            before = processor_seconds(server.pid), processor_seconds(postmaster)
            seconds = WARM_UP_SECONDS if each < 0 else plan.seconds
            options = {"expected": calls.RECORDED, "connections": CONNECTIONS}
            load = await drive(server.port, requests[name], seconds=seconds, **options)  # type: ignore[arg-type]
            after = processor_seconds(server.pid), processor_seconds(postmaster)
            if each >= 0:
                loads[name].append(load)
                spent[name].append(((after[0] - before[0]) / load.answers, (after[1] - before[1]) / load.answers))
    rates = {name: measured(loads[name], 0) for name in served}
    first = next(iter(rates.values()))
    lines = []
    for name, rate in rates.items():
        service, database = (median(each) * 1e6 for each in zip(*spent[name], strict=True))
        rounds = [mine / theirs for mine, theirs in zip(rate.rounds, first.rounds, strict=True)]
        ratio = Ratio(f"the first ({min(rounds):.2f} to {max(rounds):.2f})", rate.over(first), at_least)
        lines.append(line(name, rate, ratio, Cost("service", service), Cost("PostgreSQL", database)))
    return lines


def processor_seconds(pid: int) -> float:
    """Return the processor time that a process and its children have used, those that ended included."""
    try:
        own = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split()
    except FileNotFoundError:  # it ended, and counts as its parent's
        return 0
    return sum(map(int, own[11:15])) / _TICKS + sum(processor_seconds(int(child)) for child in children)
