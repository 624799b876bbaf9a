"""Clicks by month on PostgreSQL: made ahead, none lost outside of them, and dropped whole."""

from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import Connection, text

import background
from cli.admin import export
from storage.rules.periods.period import Month
from storage.tables import commissions, customers
from storage.tracking import click_retention
from tests.world import World, stored

SHARD = "_1[0-9]{5}$"  # which ends the partition's name on a distributed database
PLACES = text(
    f"SELECT regexp_replace(tableoid::regclass::text, '{SHARD}', '') AS place, count(*) AS number"
    " FROM clicks GROUP BY place"
)
THIS = Month.of(datetime.now(UTC))


def day(month: Month) -> datetime:
    return month.starts_at + timedelta(days=9)


def named(month: Month) -> str:
    return f"clicks_{month.year}{month.number:02}"


@pytest.fixture
def database_url(postgres_url: str) -> str:
    """PostgreSQL alone has months of clicks."""
    return postgres_url


def placed(connection: Connection) -> dict[str, int]:
    """Return how many clicks each partition holds."""
    return {row.place: row.number for row in connection.execute(PLACES)}


async def test_a_click_is_stored_in_its_month_and_none_is_lost_outside_of_them(acme: World):
    months = [THIS.plus(ahead) for ahead in (-7, 0, 3, 4, 40)]

    for month in months:
        await acme.visitor(at=day(month))

    before, this, last, *_ = months
    assert await acme.store.read(placed) == {"clicks_before": 1, named(this): 1, named(last): 1, "clicks_other": 2}, (
        before
    )


async def test_housekeeping_makes_months_ahead_and_moves_the_clicks_that_came_first(acme: World):
    late = THIS.plus(9)
    for month in (late, late.plus(1), late.plus(40)):
        await acme.visitor(at=day(month))

    for _ in range(2):
        await background.keep_house(acme.store, at=day(late))

    made = [each.name for each in await acme.store.read(click_retention.list_partitions)]
    assert made == ["clicks_before", *(named(THIS.plus(ahead)) for ahead in (0, 1, 2, 3, 9, 10, 11, 12))]
    assert await acme.store.read(placed) == {named(late): 1, named(late.plus(1)): 1, "clicks_other": 1}


async def test_retention_drops_whole_months_and_keeps_the_clicks_of_customers(acme: World):
    old, older = THIS.plus(3), THIS.plus(2)
    for month in (older, older, old):
        await acme.visitor(at=day(month))
    await acme.customer(at=day(older))
    await acme.sale(at=day(older))
    await acme.visitor("ben", at=day(THIS.plus(6)))
    kept = set(await stored(acme, customers.c.click_id))
    at = day(THIS.plus(7))

    dropped = await export.drop_months(acme.store, 70, at)

    assert dropped == [f"until {THIS.plus(-1)}", *(str(THIS.plus(ahead)) for ahead in range(4))]
    assert await acme.store.read(placed) == {"clicks_kept": 1, "clicks_other": 1}
    assert await export.drop_months(acme.store, 70, at) == []
    await acme.sale("inv-2", click_id=next(iter(kept))[0], at=at)
    assert await stored(acme, commissions.c.partner_id) == [(acme.anna,), (acme.anna,)]


async def test_a_month_that_one_program_still_needs_stays(acme: World):
    other = await acme.beside(cookie_window_days=90)
    await acme.visitor(at=day(THIS))
    await other.visitor(at=day(THIS))
    at = day(THIS.plus(3))

    await export.drop_months(acme.store, 1, at)
    deleted = await export.delete_clicks(acme.store, 1, at)

    assert [each["deleted"] for each in deleted] == [1, 0]
    assert await acme.store.read(placed) == {named(THIS): 1}


async def test_days_of_the_oldest_month_are_deleted_only_exactly(acme: World):
    month = THIS.plus(1)
    await acme.visitor(at=day(month))
    await acme.visitor(at=day(month) + timedelta(days=5))
    at = day(month) + timedelta(days=64)

    (whole,) = await export.delete_clicks(acme.store, 1, at)
    (exact,) = await export.delete_clicks(acme.store, 1, at, is_exact=True)

    assert (whole["clicks_before"], whole["deleted"]) == (month.starts_at, 0)
    assert (exact["clicks_before"], exact["deleted"]) == (day(month) + timedelta(days=4), 1)
