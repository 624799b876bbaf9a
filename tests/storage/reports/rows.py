"""A busy program, and what its stored rows add up to by any dimension, read one by one with independent SQL."""

import json
import random
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

from sqlalchemy import Connection, text

from storage.reports import breakdown
from storage.rules.errors import ServiceError
from storage.rules.periods.period import DateRangeQuery
from storage.rules.reports import breakdown_query as rules
from storage.rules.reports.breakdown import Dimension, RankedGroups
from tests.tables import statements
from tests.world import NOW, World

MONTH = DateRangeQuery("30d")
HOSTS = (None, "news.example", "search.example")
SOURCES = (None, "letter", "'; DROP TABLE clicks; --", "été")
DEVICES = (None, "mobile", "desktop")
SUMS = ("clicks", "leads", "conversions", "sales", "revenue_cents", "commission_cents")
COUNTED = dict(statements("storage/reports/rows.sql"))


Passes = Callable[[Callable[[Dimension], str | None]], bool]  # of what says a row's value of a dimension


async def busy(acme: World, seed: int) -> None:
    """Record 60 visits of 40 days: some sign up, some buy, some buyers are refunded. The terms change halfway."""
    chance = random.Random(seed)
    for n in range(60):
        if n == 30:
            await acme.change(rate=10)
        at = NOW - timedelta(minutes=chance.randrange(40 * 24 * 60))
        carried = {"utm_source": chance.choice(SOURCES), "device": chance.choice(DEVICES), "campaign": "spring"}
        stored = json.dumps({name: value for name, value in carried.items() if value}, ensure_ascii=False)
        details = {"referrer_host": chance.choice(HOSTS), "dimensions": chance.choice((stored, stored, None))}
        filtered = chance.choice((None, None, None, "bot"))
        click = await acme.visitor(chance.choice(("anna", "ben")), at=at, **details, filtered=filtered)
        at += timedelta(hours=chance.randrange(40))
        if n % 2 and at < NOW:
            await acme.lead(click, f"user-{n}", at=at, is_trusted=chance.random() < 0.8)
            with suppress(ServiceError):
                bought = chance.choice((None, '{"product_id": "pro"}', '{"is_recurring": true}'))
                amount = chance.randrange(1, 9_000)
                await acme.sale(f"inv-{n}", amount, customer_key=f"user-{n}", at=at, details=bought)
                later = min(at + timedelta(days=chance.randrange(40)), NOW)
                await acme.sale(f"more-{n}", 700, customer_key=f"user-{n}", at=later, occurred_at=later)
                if chance.random() < 0.5:
                    await acme.refund(f"inv-{n}", chance.choice((None, 1)), at=NOW)


def value_of(row: Any, dimension: Dimension, codes: dict[int, str]) -> str | None:
    at = datetime.fromtimestamp(row.millis / 1000, UTC)
    carried: dict[str, str] = json.loads(row.dimensions or "{}")
    special = {
        Dimension.PARTNER: codes[row.whose],
        Dimension.REFERRER: row.referrer_host,
        Dimension.HOUR: f"{at:%H}",
        Dimension.WEEKDAY: f"{at:%A}",
        Dimension.DAY: f"{at:%Y-%m-%d}",
        Dimension.WEEK: f"{at - timedelta(days=at.weekday()):%Y-%m-%d}",
        Dimension.PRODUCT: json.loads(row.details or "{}").get("product_id"),
        Dimension.TERMS_VERSION: row.terms and str(row.terms),
        Dimension.BUYER: row.joined and ("returning" if (row.sold or 0) > (row.bought_first or 0) else "new"),
        Dimension.COHORT: None,
        Dimension.MONTHS_SINCE: None,
    }
    if row.joined:
        joined = datetime.fromtimestamp(row.joined / 1000, UTC)
        months = at.year * 12 + at.month - joined.year * 12 - joined.month
        special |= {Dimension.COHORT: f"{joined:%Y-%m}", Dimension.MONTHS_SINCE: str(max(0, months))}
    return special[dimension] if dimension in special else carried.get(dimension)


def recomputed(
    connection: Connection, acme: World, by: tuple[Dimension, ...], passes: Passes = lambda _: True
) -> dict[tuple[str | None, ...], Counter[str]]:
    """Add up the rows of the 30 days that pass, read one by one."""
    codes = {acme.anna: "anna", acme.ben: "ben"}
    groups: dict[tuple[str | None, ...], Counter[str]] = {}
    first = (NOW - timedelta(days=29)).replace(hour=0).timestamp() * 1000
    for name, sql in COUNTED.items():
        for row in connection.execute(text(sql)):
            if row.millis >= first and passes(partial(value_of, row, codes=codes)):
                values = tuple(value_of(row, dimension, codes) for dimension in by)
                groups.setdefault(values, Counter())[name] += int(row.n)
    return groups


async def broken_down(
    acme: World, *by: str, period: DateRangeQuery = MONTH, at: datetime = NOW, **options: Any
) -> RankedGroups:
    query = rules.query(*by, **{"limit": 200, **options})
    return (await acme.store.read(breakdown.read_breakdown, acme.program_id, period, query, at=at)).ranked


def require_equal(result: Any, expected: dict[Any, Counter[str]], report: Any, *, with_zeros: bool = True) -> None:
    """Assert that the groups are what the rows add up to, and that they add up to the report."""
    groups = {group.values: group.totals for group in result.groups if with_zeros or any(group.totals)}
    assert set(groups) == {values for values, counts in expected.items() if with_zeros or any(counts.values())}
    for values, totals in groups.items():
        assert {name: getattr(totals, name) for name in COUNTED} == {name: expected[values][name] for name in COUNTED}
    assert [getattr(result.total.totals, name) for name in SUMS] == [getattr(report.current, name) for name in SUMS]
