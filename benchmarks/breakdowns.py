"""What a breakdown by one dimension costs beside the plain report: 30 days of a program with many clicks, on SQLite."""

import sqlite3
import time
from datetime import UTC, datetime
from pathlib import Path

import background
import storage
from benchmarks import world
from benchmarks.reports import Read, alternate
from benchmarks.results import Ceiling, Line, Ratio, line
from benchmarks.rounds import Plan, Rates
from storage import Storage
from storage.reading import breakdown, performance
from storage.rules import breakdown as rules
from storage.rules.breakdown import Dimension
from storage.rules.period import DateRangeQuery, Period

MONTH = DateRangeQuery(Period.THIRTY_DAYS)
MONTH_MILLIS = 30 * 86_400_000
MOST_COST = 5  # times the plain report
BY = (Dimension.DEVICE, Dimension.PARTNER, Dimension.UTM_SOURCE)  # 3 values, 20, and more than are stored for a day
_CLICKS = """
WITH RECURSIVE visit(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM visit WHERE n + 1 < :rows)
INSERT INTO clicks (program_id, click_id, partner_id, at, landing_url, referrer_host, dimensions)
SELECT 1, printf('%012x', :begin + n * :span / :rows) || lower(hex(randomblob(10))) || '-1',
    (SELECT min(id) FROM partners) + n % 20, :begin + n * :span / :rows, 'https://shop.example/?aff=partner-0',
    'host-' || (n % 131), '{"landing_path":"/' || (n % 127) || '","utm_source":"s' || (n % 149) || '","device":"' ||
    (CASE n % 3 WHEN 0 THEN 'mobile' WHEN 1 THEN 'desktop' ELSE 'tablet' END) || '","country":"C' || (n % 30) ||
    '","browser":"b' || (n % 7) || '","os":"o' || (n % 5) || '","language":"l' || (n % 11) || '"}'
FROM visit
"""


async def breakdowns(plan: Plan, folder: Path) -> list[Line]:
    """Measure the report and breakdowns by dimensions of few and of many values, in turn."""
    path = folder / "service.db"
    url = f"sqlite+aiosqlite:///{path}"
    await world.create(url)
    _load(path, plan.many_clicks)
    world.roll_up(path)
    async with storage.opened(url) as store:
        begun = time.process_time()
        await background.group_all(store)
        grouped = time.process_time() - begun
        at = datetime.now(UTC)
        reads: dict[str, Read] = {"report": lambda: store.read(performance.get_report, 1, MONTH, at=at)}
        reads |= {dimension.value: _by(store, dimension, at) for dimension in BY}
        reported, broken_down = await reads["report"](), await reads[BY[-1]]()
        assert reported.current.clicks == broken_down.total.clicks > plan.many_clicks // 2, "the totals differ"
        rates = await alternate(reads, plan)
    return _lines(rates, plan.many_clicks, plan.many_clicks / grouped)


def _lines(rates: dict[str, Rates], clicks: int, grouped_a_second: float) -> list[Line]:
    report = rates["report"]
    per_click = Ceiling("processor time to group a click", 1_000_000 / grouped_a_second, 50, "us")
    lines = [line(f"report of 30 days, {clicks:,} clicks, grouped by a worker", report, per_click)]
    for dimension in BY:
        ratio = Ratio("the report", rates[dimension].over(report), round(1 / MOST_COST, 2))
        lines.append(line(f"breakdown by {dimension}", rates[dimension], ratio))
    return lines


def _by(store: Storage, dimension: Dimension, at: datetime) -> Read:
    query = rules.query(dimension)
    return lambda: store.read(breakdown.get_breakdown, 1, MONTH, query, at=at)


def _load(path: Path, rows: int) -> None:
    begin = int(datetime.now(UTC).timestamp() * 1000) - MONTH_MILLIS
    with sqlite3.connect(path) as connection:
        connection.executescript("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -500000;")
        connection.execute(_CLICKS, {"rows": rows, "begin": begin, "span": MONTH_MILLIS - 60_000})
        connection.commit()
        connection.execute("PRAGMA journal_mode = WAL")
    connection.close()
