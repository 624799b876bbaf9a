"""`python -m benchmarks [name ...]`: what the service costs on SQLite, or the named benchmarks, as a table."""

import argparse
from collections.abc import Awaitable, Callable
from functools import partial

import uvloop

from benchmarks import reads, servers, waits, writes
from benchmarks.results import Line, Plan, print_table

BENCHMARKS: dict[str, Callable[[Plan], Awaitable[list[Line]]]] = {
    "sqlite": writes.tracking,
    "reports": reads.reports,
    "mcp": reads.mcp,
    "computed": reads.computed,
    "postgresql": partial(writes.tracking, on=servers.POSTGRESQL),
    "distributed": writes.distributed,
    "rows": writes.rows,
    "postgresql-rows": partial(writes.rows, on=servers.POSTGRESQL),
    "memory": reads.memory,
    "pages": waits.pages,
}
USUAL = ("sqlite", "reports", "mcp")
QUICK = Plan(rounds=2, seconds=1.0, many_clicks=200_000)


async def measure(names: list[str], plan: Plan) -> list[Line]:
    return [line for name in names for line in await BENCHMARKS[name](plan)]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", help=f"of {', '.join(BENCHMARKS)}; none: {', '.join(USUAL)}")
    parser.add_argument("--quick", action="store_true", help="few and short rounds: does it work, not how fast is it")
    given = parser.parse_args()
    if unknown := set(given.names) - set(BENCHMARKS):
        parser.error(f"no such benchmark: {', '.join(sorted(unknown))}")
    servers.pin(servers.LOAD_CORE)
    print_table(uvloop.run(measure(given.names or [*USUAL], QUICK if given.quick else Plan())))
