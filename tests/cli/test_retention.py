"""`svc admin retention`: old clicks go; reports, customers and later sales do not notice."""

import asyncio
import json
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import Table, update

import storage
from cli.admin import retention
from storage.checks import books
from storage.tables import clicks, commissions, partner_rollups, rollups
from storage.tracking import click_retention
from tests import world
from tests.world import NOW, World, stored

OLD, RECENT = NOW - timedelta(days=100), NOW - timedelta(days=50)
TOTALS = (rollups.c.day, rollups.c.clicks, rollups.c.leads)


async def delete(acme: World, days: int = 70) -> int:
    (program,) = await retention.delete_clicks(acme.store, days, NOW)
    deleted: int = program["deleted"]
    return deleted


async def clicks_of(acme: World) -> set[str]:
    return {click_id for (click_id,) in await stored(acme, clicks.c.click_id)}


async def test_old_clicks_are_deleted_in_chunks_and_what_they_counted_for_stays(
    acme: World, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(click_retention, "ROWS_AT_ONCE", 2)
    for _ in range(2):
        await acme.visitor(at=OLD)
    await acme.customer(at=OLD)
    await acme.sale(at=OLD)
    for _ in range(3):
        await acme.visitor("ben", at=OLD)
    totals = await stored(acme, *TOTALS)

    assert await delete(acme) == 5

    (kept,) = await clicks_of(acme)
    assert await stored(acme, *TOTALS) == totals
    assert await acme.store.read(books.run) == []
    await acme.sale("inv-2", click_id=kept)
    assert await stored(acme, commissions.c.partner_id) == [(acme.anna,), (acme.anna,)]
    assert await delete(acme) == 0


async def test_a_click_that_can_still_become_a_customer_is_kept(acme: World):
    recent = {await acme.visitor(at=RECENT), await acme.visitor()}

    assert await delete(acme, days=1) == 0

    assert await clicks_of(acme) == recent  # the program's windows are 60 days


async def test_deleting_fewer_days_later_does_not_forget_what_was_deleted(acme: World):
    await acme.visitor(at=OLD)
    await acme.visitor(at=OLD - timedelta(days=100))
    await delete(acme, days=70)

    await delete(acme, days=150)

    assert await acme.store.read(books.run) == []


@pytest.mark.parametrize("table", [rollups, partner_rollups])
async def test_the_check_still_finds_a_wrong_total_of_a_deleted_day(acme: World, table: Table):
    await acme.visitor(at=OLD)
    await delete(acme)

    await acme.store.write(
        lambda connection: connection.execute(update(table).where(table.c.clicks == 1).values(clicks=3))
    )

    found = await acme.store.read(books.run)
    assert [(each.what, each.stored, each.recomputed) for each in found] == [
        ("program rollup clicks", 3, 1) if table is rollups else ("program rollup clicks", 1, 3)
    ]


def test_the_command_says_what_it_deleted(
    sqlite_url: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    async def fill() -> None:
        async with storage.opened(sqlite_url) as store:
            await world.acme(store)

    asyncio.run(fill())
    monkeypatch.setenv("SVC_DATABASE_URL", sqlite_url)

    retention.retention(400, as_json=True)

    done = json.loads(capsys.readouterr().out)
    (program,) = done["programs"]
    days = datetime.now(UTC) - datetime.fromisoformat(program.pop("clicks_before"))
    assert (done["deleted"], program, days.days) == (0, {"program_id": 1, "deleted": 0}, 400)
