"""What the performance report costs: over few and many stored clicks, long and short ranges, and beside a GROUP BY."""

import time
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from pathlib import Path
from statistics import median, quantiles
from typing import Any

from sqlalchemy import Connection, text

import storage
from benchmarks import world
from benchmarks.results import Line, Ratio, line
from benchmarks.rounds import Plan, Rates
from storage import Reader
from storage.reading import performance
from storage.rules import period
from storage.rules.period import DateRangeQuery, Period

FEW_CLICKS = 10_000
CALLS = 40
GROUP_BY = text(
    "SELECT date(at / 1000, 'unixepoch') AS day, count(*) FROM clicks"
    " WHERE program_id = :program_id AND at BETWEEN :begin AND :end GROUP BY day"
)
Read = Callable[[], Awaitable[Any]]


async def reports(plan: Plan, folder: Path) -> list[Line]:
    """Measure reports of one program with few and with many clicks, on SQLite, through the service's own reader."""
    at = datetime.now(UTC)
    urls = {number: f"sqlite+aiosqlite:///{folder / f'{number}.db'}" for number in (FEW_CLICKS, plan.many_clicks)}
    for number, url in urls.items():
        shop = await world.create(url)
        world.load_clicks(folder / f"{number}.db", shop, number)
        world.roll_up(folder / f"{number}.db")
    few_url, many_url = urls.values()
    async with storage.opened(few_url) as few, storage.opened(many_url) as many:
        reads: dict[str, Read] = {
            "few": _report(few, Period.THIRTY_DAYS, at),
            "many": _report(many, Period.THIRTY_DAYS, at),
            "week": _report(many, Period.SEVEN_DAYS, at),
            "quarter": _report(many, Period.NINETY_DAYS, at),
            "counted": lambda: many.read(_grouped, 1, at),
        }
        reported = await reads["many"]()
        assert reported.current.clicks == sum(await reads["counted"]()), "the report is not what the clicks add up to"
        rates = await alternate(reads, plan)
    return _lines(rates, plan.many_clicks)


def _lines(rates: dict[str, Rates], many_clicks: int) -> list[Line]:
    of_many = (
        Ratio(f"the same at {FEW_CLICKS:,}", rates["many"].over(rates["few"]), round(1 / 1.5, 2)),
        Ratio("a GROUP BY over the clicks", rates["many"].over(rates["counted"]), 200),
    )
    of_days = Ratio("7 days", rates["quarter"].over(rates["week"]), round(1 / 3, 2))
    return [
        line(f"report of 30 days, {FEW_CLICKS:,} clicks", rates["few"]),
        line(f"report of 30 days, {many_clicks:,} clicks", rates["many"], *of_many),
        line("report of 7 days", rates["week"]),
        line("report of 90 days", rates["quarter"], of_days),
        line(f"GROUP BY over 30 days, {many_clicks:,} clicks", rates["counted"]),
    ]


def _report(store: Reader, wanted: Period, at: datetime) -> Read:
    return lambda: store.read(performance.get_report, 1, DateRangeQuery(wanted), at=at)


def _grouped(connection: Connection, program_id: int, at: datetime) -> list[int]:
    window = period.named(Period.THIRTY_DAYS, created_at=at, at=at)
    begin, end = (int(at.timestamp() * 1000) for at in (window.starts_at, window.ends_at))
    given = {"program_id": program_id, "begin": begin, "end": end}
    return [row[1] for row in connection.execute(GROUP_BY, given)]


async def alternate(reads: dict[str, Read], plan: Plan) -> dict[str, Rates]:
    """Time the reads in turn, round by round: many calls of each, one of the GROUP BY."""
    taken: dict[str, list[list[float]]] = {name: [] for name in reads}
    for _ in range(plan.rounds):
        for name, read in reads.items():
            taken[name].append([await _timed(read) for _ in range(1 if name == "counted" else CALLS)])
    return {name: _rates(rounds) for name, rounds in taken.items()}


async def _timed(read: Read) -> float:
    begun = time.perf_counter()
    await read()
    return time.perf_counter() - begun


def _rates(rounds: list[list[float]]) -> Rates:
    every = [seconds for each in rounds for seconds in each]
    speeds = [1 / median(each) for each in rounds]
    return Rates(median(speeds), median(every) * 1000, quantiles(every, n=100)[98] * 1000, speeds, len(every))
