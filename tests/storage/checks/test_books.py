"""`storage.checks.books`: silent on what the operations wrote, and loud about every kind of corruption."""

import asyncio
import shutil
import sqlite3
from itertools import product
from pathlib import Path

import storage
from storage.checks import books
from tests.tables import statements


def corrupted(demo: Path, folder: Path, *statements: str) -> list[str]:
    """Return what the check reports once the statements have run over a copy of the database."""
    path = shutil.copy(demo, folder / "svc.db")
    connection = sqlite3.connect(path)
    for statement in statements:
        assert connection.execute(statement).rowcount != 0, statement
    connection.commit()
    connection.close()

    async def read() -> list[str]:
        async with storage.opened(f"sqlite+aiosqlite:///{path}") as store:
            return [str(difference) for difference in await store.read(books.run)]

    return asyncio.run(read())


REFUNDED = "UPDATE refunds SET amount_cents = amount_cents + 9000000 WHERE sale_id = (SELECT min(sale_id) FROM refunds)"
LOST = "DELETE FROM clicks WHERE click_id = (SELECT min(click_id) FROM clicks WHERE filtered IS NULL)"
COUPON = "INSERT INTO coupons SELECT program_id, id, id, code, code_key, created_at, NULL FROM partners"
CORRUPTIONS = [(change, said.split(", ")) for said, change in statements("storage/checks/corruptions.sql")]


def test_every_corruption_is_reported(demo: Path, tmp_path: Path) -> None:
    assert corrupted(demo, tmp_path) == []
    for change, reported in CORRUPTIONS:
        lines = [line for line in corrupted(demo, tmp_path, change) if "rollup" not in line]
        assert [line.split(" of ")[0] for line in lines] == reported, change
        assert reported != ["refunded_cents"] or lines[0].endswith("stored 5, recomputed 0")
    assert "refunds within the sale's amount of " in "".join(corrupted(demo, tmp_path, REFUNDED))


def test_a_changed_daily_total_is_reported_with_its_day(demo: Path, tmp_path: Path) -> None:
    kinds = {"rollups": "program rollup", "partner_rollups": "partner rollup"}
    totals = ("clicks", "leads", "conversions", "sales", "revenue_cents", "commission_cents", "partners")
    for (table, kind), total in product(kinds.items(), totals):
        change = f"UPDATE {table} SET {total} = {total} + 7 WHERE rowid = (SELECT max(rowid) FROM {table})"
        [line] = corrupted(demo, tmp_path, change)
        assert line.startswith(f"{kind} {total} of program ")
        assert " on 2026-" in line
    lost = [line.split(" of ")[0] for line in corrupted(demo, tmp_path, LOST)]
    assert lost == ["program rollup clicks", "partner rollup clicks"]


def test_a_value_that_must_be_unique_and_is_not_is_reported(demo: Path, tmp_path: Path) -> None:
    for reported, table, columns in books.UNIQUE:
        without_keys = [f"CREATE TABLE copied AS SELECT * FROM {table}", f"DROP TABLE {table}"]
        named = [f"UPDATE copied SET {columns[-1]} = 'r' || id"] if table.name == "refunds" else []
        doubled = f"INSERT INTO copied SELECT * FROM copied WHERE {columns[0]} IS NOT NULL LIMIT 1"
        made = [COUPON] if table.name == "coupons" else []  # the demo has none
        lines = corrupted(
            demo, tmp_path, *made, *without_keys, *named, doubled, f"ALTER TABLE copied RENAME TO {table}"
        )
        assert [line for line in lines if line.startswith(f"{reported} of program ")], reported
    assert len(books.UNIQUE) == 12
