"""`svc admin export` and `svc admin analyze`: months as Parquet files, whose totals are the service's."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
import typer

from cli.admin import export, parquet
from storage.reading import breakdown, exported_events
from storage.rules import breakdown as rules
from storage.rules.breakdown import Dimension
from storage.rules.month import Month
from storage.rules.period import DateRangeQuery
from tests.storage.reading.rows import busy
from tests.world import NOW, World

MONTHS = (Month(2026, 4), Month(2026, 5))
BOTH = DateRangeQuery(date_from="2026-04-01", date_to="2026-05-31")


async def test_totals_of_exported_months_are_those_of_the_service(
    acme: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(exported_events, "ROWS_AT_ONCE", 7)
    await busy(acme, 1)
    for month in MONTHS:
        await export.write_month(acme.store, month, parquet.path_of(tmp_path, month))
    files = export.list_files(tmp_path, None, "2026-05")

    pairs = [(Dimension.UTM_SOURCE, Dimension.DEVICE), (Dimension.COHORT, Dimension.MONTHS_SINCE)]
    for by in [*((each,) for each in Dimension), *pairs]:
        query = rules.query(*by, limit=5)
        theirs = await acme.store.read(breakdown.get_breakdown, acme.program_id, BOTH, query, at=NOW)
        archived = parquet.breakdown(files, acme.program_id, query, {})

        assert archived.groups == [tuple(group) for group in theirs.groups], by
        assert (archived.other, archived.total) == (theirs.other, theirs.total)
    assert archived.total.commission_cents > 0


async def test_a_month_can_be_exported_again_and_filtered(acme: World, tmp_path: Path):
    path = parquet.path_of(tmp_path, MONTHS[1])
    await acme.customer()
    await acme.sale()
    first = await export.write_month(acme.store, MONTHS[1], path)
    await acme.refund()

    again = await export.write_month(acme.store, MONTHS[1], path)

    sent = {"weekday": "Wednesday", "device": rules.NONE}
    found = parquet.breakdown([path], acme.program_id, rules.query("partner"), sent)
    assert again == first == 5  # a click, a lead, a conversion, a sale, a commission
    assert [(values, totals.clicks, totals.refunds) for values, totals in found.groups] == [(("anna",), 1, 1)]
    assert parquet.breakdown([path], acme.program_id, rules.query("partner"), {"hour": "03"}).groups == []
    assert export.list_files(path.parent, None, None) == [path]


def test_the_commands_write_and_read_a_month(
    sqlite_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setenv("SVC_DATABASE_URL", sqlite_url)
    folder = tmp_path / "archive"

    export.export("2026-05", folder, as_json=True)
    export.analyze(folder, 1, ["referrer", "device"], last="2026-06", as_json=True)

    written, analyzed = map(json.loads, capsys.readouterr().out.splitlines())
    assert (written["events"], analyzed["months"], analyzed["groups"]) == (0, ["2026-05"], [])
    assert set(analyzed["total"].values()) == {0}
    this = str(Month.of(datetime.now(UTC)))
    for wrong in (this, "2026-13"):
        with pytest.raises(typer.Exit):
            export.export(wrong, folder, as_json=True)
    with pytest.raises(typer.Exit):
        export.analyze(folder, 1, ["referrer"], first="2026-06", as_json=True)
    codes = [json.loads(line)["error"]["code"] for line in capsys.readouterr().out.splitlines()]
    assert codes == ["month_not_over", "validation_error", "nothing_exported"]
