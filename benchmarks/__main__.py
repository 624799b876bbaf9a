"""`python -m benchmarks [name ...]`: run all benchmarks or the named ones, print a table, keep it in the docs."""

import argparse
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path

import uvloop

from benchmarks import (
    breakdowns,
    distributed,
    flood,
    growth,
    mcp,
    pages,
    reconcile,
    report,
    reports,
    scale,
    servers,
    tracking,
)
from benchmarks.results import Line
from benchmarks.rounds import QUICK, Plan

BENCHMARKS: dict[str, Callable[[Plan, Path], Awaitable[list[Line]]]] = {
    "sqlite": tracking.sqlite,
    "postgresql": tracking.postgresql,
    "distributed": distributed.distributed,
    "flood": flood.flood,
    "rows": growth.rows,
    "postgresql-rows": scale.rows,
    "postgresql-programs": scale.programs,
    "memory": growth.memory,
    "reports": reports.reports,
    "breakdowns": breakdowns.breakdowns,
    "reconcile": reconcile.reconcile,
    "pages": pages.paints,
    "mcp": mcp.costs,
    "mcp-memory": mcp.memory,
}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="name", help=f"of {', '.join(BENCHMARKS)}; none: all")
    parser.add_argument("--quick", action="store_true", help="few and short rounds: does it work, not how fast is it")
    given = parser.parse_args()
    if unknown := set(given.names) - set(BENCHMARKS):
        parser.error(f"no such benchmark: {', '.join(sorted(unknown))}")
    servers.pin(servers.LOAD_CORE)
    lines = uvloop.run(measure(given.names or list(BENCHMARKS), QUICK if given.quick else Plan()))
    report.print_lines(lines)
    if not given.names and not given.quick:
        report.write(lines, "make bench")


async def measure(names: list[str], plan: Plan) -> list[Line]:
    lines = []
    for name in names:
        print(f"{name} ...", flush=True)
        with tempfile.TemporaryDirectory(prefix="svc-bench-") as folder:
            lines += await BENCHMARKS[name](plan, Path(folder))
    return lines


if __name__ == "__main__":
    main()
