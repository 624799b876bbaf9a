"""Old events: `svc admin export` and `retention`; reports, customers and later sales do not notice."""

import asyncio
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import duckdb
import pytest
import typer
from sqlalchemy import Table, update

from cli.admin import export
from storage.checks import books
from storage.reports import breakdown, exported_events
from storage.rules.periods.period import DateRangeQuery, Month
from storage.rules.reports import breakdown_query as rules
from storage.rules.reports.breakdown import BreakdownGroup, Dimension, GroupTotals, ranked
from storage.tables import clicks, commissions, partner_rollups, rollups
from storage.tracking import click_retention
from tests import test_journeys, world
from tests.storage.reports.rows import busy
from tests.world import NOW, World, stored

MONTHS = (Month(2026, 4), Month(2026, 5))
BOTH = DateRangeQuery(date_from="2026-04-01", date_to="2026-05-31")
OLD, RECENT = NOW - timedelta(days=100), NOW - timedelta(days=50)
TOTALS = (rollups.c.day, rollups.c.clicks, rollups.c.leads)


def read(files: Path, program_id: int, *by: Dimension) -> list[BreakdownGroup]:
    """Return a program's totals by these dimensions from the files of a pattern."""
    names = ", ".join(f'"{each.value}"' for each in by)
    sums = ", ".join(f"coalesce(sum({name}), 0)::BIGINT" for name in GroupTotals._fields)
    with duckdb.connect() as database:
        grouped = f"SELECT {names}, {sums} FROM '{files}' WHERE program_id = {program_id} GROUP BY {names}"
        rows = database.execute(grouped).fetchall()
    return [BreakdownGroup(tuple(row[: len(by)]), GroupTotals(*row[len(by) :])) for row in rows]


async def test_exported_months_have_the_service_s_totals(acme: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(exported_events, "ROWS_AT_ONCE", 7)
    await busy(acme, 1)
    for month in MONTHS:
        await export.write_month(acme.store, month, tmp_path / f"events-{month}.parquet")

    pairs = [(Dimension.UTM_SOURCE, Dimension.DEVICE), (Dimension.COHORT, Dimension.MONTHS_SINCE)]
    for by in [*((each,) for each in Dimension), *pairs]:
        query = rules.query(*by, limit=5)
        theirs = await acme.store.read(breakdown.read_breakdown, acme.program_id, BOTH, query, at=NOW)
        archived = ranked(read(tmp_path / "*.parquet", acme.program_id, *by), query)

        assert archived == theirs.ranked, by
    assert archived.total.totals.commission_cents > 0


async def test_a_month_can_be_exported_again(acme: World, tmp_path: Path):
    path = tmp_path / "events.parquet"
    await acme.customer()
    await acme.sale()
    first = await export.write_month(acme.store, MONTHS[1], path)
    await acme.refund()

    again = await export.write_month(acme.store, MONTHS[1], path)

    ((values, totals, _),) = read(path, acme.program_id, Dimension.PARTNER)
    assert again == first == 5  # a click, a lead, a conversion, a sale, a commission
    assert (values, totals.clicks, totals.refunds) == (("anna",), 1, 1)


def test_the_command_writes_a_month_that_is_over(
    sqlite_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setenv("SVC_DATABASE_URL", sqlite_url)

    export.export("2026-05", tmp_path / "archive", as_json=True)

    assert json.loads(capsys.readouterr().out)["events"] == 0
    for wrong in (str(Month.of(datetime.now(UTC))), "2026-13"):
        with pytest.raises(typer.Exit):
            export.export(wrong, tmp_path / "archive", as_json=True)
    codes = [json.loads(line)["error"]["code"] for line in capsys.readouterr().out.splitlines()]
    assert codes == ["month_not_over", "validation_error"]


async def delete(acme: World, days: int = 70) -> int:
    (program,) = await export.delete_clicks(acme.store, days, NOW)
    deleted: int = program["deleted"]
    return deleted


async def clicks_of(acme: World) -> set[str]:
    return {click_id for (click_id,) in await stored(acme, clicks.c.click_id)}


async def test_old_clicks_go_in_chunks_and_what_they_counted_for_stays(acme: World, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(click_retention, "ROWS_AT_ONCE", 2)
    recent = {await acme.visitor(at=RECENT), await acme.visitor()}  # who can still become customers
    for _ in range(2):
        await acme.visitor(at=OLD)
    await acme.customer(at=OLD)
    await acme.sale(at=OLD)
    for _ in range(3):
        await acme.visitor("ben", at=OLD)
    totals = await stored(acme, *TOTALS)

    assert await delete(acme) == 5

    (kept,) = await clicks_of(acme) - recent
    assert await stored(acme, *TOTALS) == totals
    assert await acme.store.read(books.run) == []
    await acme.sale("inv-2", click_id=kept)
    assert await stored(acme, commissions.c.partner_id) == [(acme.anna,), (acme.anna,)]
    assert await delete(acme, days=1) == 0  # the program's windows are 60 days
    assert await clicks_of(acme) == {kept, *recent}
    await delete(acme, days=150)
    assert await acme.store.read(books.run) == []  # what was deleted before is not forgotten


@pytest.mark.parametrize("table", [rollups, partner_rollups])
async def test_the_check_still_finds_a_wrong_total_of_a_deleted_day(acme: World, table: Table):
    await acme.visitor(at=OLD)
    await delete(acme)

    await acme.store.write(lambda writer: writer.execute(update(table).where(table.c.clicks == 1).values(clicks=3)))

    found = await acme.store.read(books.run)
    assert [(each.what, each.stored, each.recomputed) for each in found] == [
        ("program rollup clicks", 3, 1) if table is rollups else ("program rollup clicks", 1, 3)
    ]


def test_it_says_what_it_deleted(sqlite_url: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    asyncio.run(test_journeys.stored(sqlite_url, world.acme))
    monkeypatch.setenv("SVC_DATABASE_URL", sqlite_url)

    export.retention(400, as_json=True)

    done = json.loads(capsys.readouterr().out)
    (program,) = done["programs"]
    days = datetime.now(UTC) - datetime.fromisoformat(program.pop("clicks_before"))
    assert (done["deleted"], program, days.days) == (0, {"program_id": 1, "deleted": 0}, 400)
