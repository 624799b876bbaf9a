"""Durable clicks and sales against the bare route and the ORM baseline, on SQLite and on PostgreSQL."""

from pathlib import Path

from benchmarks import calls, servers, world
from benchmarks.results import Ceiling, Line, Ratio, Spread, line
from benchmarks.rounds import Plan, Rates, Subject, alternate
from storage import tables
from tests.postgres import binaries

CUSTOMERS = 1_000
BARE, CLICK, SALE, SALE_EUR = "bare route", "click", "sale", "sale in EUR"
ORM_CLICK, ORM_SALE = "ORM click", "ORM sale"
LONGEST_P99_MS = 30


async def sqlite(plan: Plan, folder: Path) -> list[Line]:
    """Measure both calls on SQLite."""
    urls = [f"sqlite+aiosqlite:///{folder / name}.db" for name in ("service", "baseline")]
    rates = await _measure(plan, *urls)
    bare, click, sale = rates[BARE], rates[CLICK], rates[SALE]
    orm_click, orm_sale = rates[ORM_CLICK], rates[ORM_SALE]
    p99 = Ceiling("p99", click.p99_ms, LONGEST_P99_MS, "ms")
    click_ratios = (Ratio("bare", click.over(bare), 0.8), Ratio("ORM", click.over(orm_click), 12))
    sale_ratios = (Ratio("bare", sale.over(bare), 0.3), Ratio("ORM", sale.over(orm_sale), 8))
    return [
        line("bare Starlette route", bare, Spread(min(bare.rounds), max(bare.rounds))),
        line("click, SQLite", click, *click_ratios, p99),
        line("sale, SQLite", sale, *sale_ratios),
        line("sale in EUR, SQLite", rates[SALE_EUR], Ratio("the same in USD", rates[SALE_EUR].over(sale), 0.85)),
        line("click, ORM baseline, SQLite", orm_click, Ratio("bare", orm_click.over(bare))),
        line("sale, ORM baseline, SQLite", orm_sale, Ratio("bare", orm_sale.over(bare))),
    ]


async def postgresql(plan: Plan, folder: Path) -> list[Line]:
    """Measure both calls on a PostgreSQL of its own, which runs on the load's core."""
    if binaries() is None:
        return []
    with servers.postgres(folder / "postgres") as url:
        databases = [url.rpartition("/")[0] + f"/{name}" for name in ("service", "baseline")]
        for name in ("service", "baseline"):
            await servers.create_database(url, name)
        rates = await _measure(plan, *databases)
    bare, click, sale = rates[BARE], rates[CLICK], rates[SALE]
    orm_click, orm_sale = rates[ORM_CLICK], rates[ORM_SALE]
    return [
        line("bare Starlette route (again)", bare, Spread(min(bare.rounds), max(bare.rounds))),
        line("click, PostgreSQL", click, Ratio("bare", click.over(bare), 0.6), Ratio("ORM", click.over(orm_click))),
        line("sale, PostgreSQL", sale, Ratio("bare", sale.over(bare), 0.15), Ratio("ORM", sale.over(orm_sale), 8)),
        line("sale in EUR, PostgreSQL", rates[SALE_EUR], Ratio("the same in USD", rates[SALE_EUR].over(sale), 0.85)),
        line("click, ORM baseline, PostgreSQL", orm_click, Ratio("bare", orm_click.over(bare))),
        line("sale, ORM baseline, PostgreSQL", orm_sale, Ratio("bare", orm_sale.over(bare))),
    ]


async def _measure(plan: Plan, url: str, baseline_url: str) -> dict[str, Rates]:
    """Alternate the six subjects; afterwards the service's tables must hold every call that it answered."""
    shop = await world.create(url, customers=CUSTOMERS)
    other = await world.create(baseline_url, customers=CUSTOMERS)
    stored = [await world.count(url, table) for table in (tables.clicks, tables.sales)]
    with servers.bare() as bare, servers.service(url) as service, servers.baseline(baseline_url) as orm:
        rates = await alternate(
            {
                BARE: Subject(bare, calls.clicks(shop, "/echo")),
                CLICK: Subject(service, calls.clicks(shop), calls.RECORDED),
                SALE: Subject(service, calls.sales(shop), calls.RECORDED),
                SALE_EUR: Subject(service, calls.sales(shop, currency="EUR"), calls.RECORDED),
                ORM_CLICK: Subject(orm, calls.clicks(other, "/click"), calls.RECORDED),
                ORM_SALE: Subject(orm, calls.sales(other, "/sale"), calls.RECORDED),
            },
            plan,
        )
    for before, table, names in zip(stored, (tables.clicks, tables.sales), ((CLICK,), (SALE, SALE_EUR)), strict=True):
        if await world.count(url, table) - before != sum(rates[name].answers for name in names):
            raise RuntimeError(f"not every {names[0]} that was answered is stored")
    return rates
