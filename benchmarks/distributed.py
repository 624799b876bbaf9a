"""Clicks and sales on a Citus cluster against the same on one plain PostgreSQL, with one program and with eight."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

from benchmarks import calls, servers, world
from benchmarks.results import Ceiling, Line, Ratio, Spread, line
from benchmarks.rounds import Plan, Rates, Subject, alternate
from benchmarks.scale import postmaster_of, processor_seconds
from tests import citus, postgres
from tests.citus import Cluster
from tests.postgres import Server

CUSTOMERS = 500
MOST_CPU = 2.5


async def distributed(plan: Plan, folder: Path) -> list[Line]:  # noqa: ARG001 - the servers have folders of their own
    """Measure both with fsync and the same binaries; nothing without Citus."""
    if citus.binaries() is None:
        return []
    with (
        citus.running(settings=postgres.DURABLE) as cluster,
        postgres.running(citus.binaries(), postgres.DURABLE) as plain,
    ):
        lines = []
        for programs in (1, 8):
            lines += await _measure(plan, cluster, plain, programs)
    return lines


async def _measure(plan: Plan, cluster: Cluster, plain: Server, programs: int) -> list[Line]:
    on_citus = await asyncio.to_thread(cluster.create_database, f"programs_{programs}")
    await citus.distribute(on_citus)
    await servers.create_database(plain.url, f"programs_{programs}")
    on_plain = f"{plain.url.rpartition('/')[0]}/programs_{programs}"
    shops = [await world.create(url, programs=programs, customers=CUSTOMERS) for url in (on_plain, on_citus)]
    with servers.service(on_plain) as one, servers.service(on_citus) as other:
        both = (("plain", one, shops[0]), ("citus", other, shops[1]))
        before = [_seconds([plain]), _seconds([cluster.coordinator, *cluster.workers])]
        clicked = await alternate({n: Subject(at, calls.clicks(shop), calls.RECORDED) for n, at, shop in both}, plan)
        after = [_seconds([plain]), _seconds([cluster.coordinator, *cluster.workers])]
        sold = await alternate({n: Subject(at, calls.sales(shop), calls.RECORDED) for n, at, shop in both}, plan)
    cpu = [(end - begin) / clicked[n].answers for n, begin, end in zip(("plain", "citus"), before, after, strict=True)]
    what = f"CPU of PostgreSQL for a click {cpu[1] * 1e6:.0f} us against {cpu[0] * 1e6:.0f},"
    used = Ceiling(what, cpu[1] / cpu[0], MOST_CPU, "x")
    target = 0.7 if programs == 1 else None
    return [*_lines("click", programs, clicked, target, used), *_lines("sale", programs, sold, None)]


def _lines(call: str, programs: int, rates: dict[str, Rates], target: float | None, *more: Ceiling) -> Iterator[Line]:
    plain, distributed = rates["plain"], rates["citus"]
    what = f"{call}, {programs} program{'s' if programs > 1 else ''}"
    yield line(f"{what}, plain PostgreSQL", plain, Spread(min(plain.rounds), max(plain.rounds)))
    yield line(f"{what}, Citus", distributed, Ratio("plain", distributed.over(plain), target), *more)


def _seconds(of: list[Server]) -> float:
    """Return the processor time that servers have used."""
    return sum(processor_seconds(postmaster_of(each.data)) for each in of)
