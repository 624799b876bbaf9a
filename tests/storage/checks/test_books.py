"""`storage.checks.books`: silent on what the operations wrote, and loud about every kind of corruption."""

import asyncio
import shutil
import sqlite3
from itertools import product
from pathlib import Path

import storage
from storage.checks import books


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


def one(table: str, condition: str, key: str = "rowid") -> str:
    """Return a condition that one row of a table meets."""
    return f"{key} = (SELECT min({key}) FROM {table} WHERE {condition})"


def entry(kind: str) -> str:
    return one("ledger_entries", f"kind = '{kind}'")


def customer(change: str, status: str) -> str:
    return f"UPDATE customers SET {change} WHERE {one('customers', f'status = {status!r}')}"


MORE = "UPDATE ledger_entries SET amount_cents = amount_cents + 1 WHERE "
OTHER = "(SELECT id FROM partners WHERE partners.program_id = ledger_entries.program_id AND id <> partner_id)"
PURCHASE = "first purchase in milliseconds"
UNPAID = f"UPDATE sales SET refunded_cents = 5 WHERE {one('sales', 'refunded_cents = 0')}"
REFUNDED = "UPDATE refunds SET amount_cents = amount_cents + 9000000 WHERE sale_id = (SELECT min(sale_id) FROM refunds)"
LOST = "DELETE FROM clicks WHERE " + one("clicks", "filtered IS NULL", "click_id")
# What is done to the database, and what the check reports beside the daily totals that follow from it.
CORRUPTIONS = {
    MORE + entry("commission"): ["commission entry", "net commission", "balance"],
    MORE + entry("reversal"): ["net commission", "balance"],
    MORE + entry("rejection"): ["net commission", "balance"],
    MORE + entry("payout"): ["payout", "balance"],
    MORE + entry("platform_fee"): ["platform fee entry", "net platform fee"],
    MORE + entry("platform_fee_reversal"): ["net platform fee"],
    f"UPDATE ledger_entries SET partner_id = {OTHER} WHERE {entry('commission')}": ["balance", "balance"],
    f"DELETE FROM ledger_entries WHERE {entry('payout')}": ["payout", "balance"],
    UNPAID: ["refunded_cents"],
    customer("first_purchase_at = first_purchase_at + 1", "conversion"): [PURCHASE],
    customer("first_purchase_at = NULL", "conversion"): [PURCHASE],
    customer("first_purchase_at = 5", "lead"): [PURCHASE],
    customer("status = 'lead'", "conversion"): ["conversion status"],
    customer("status = 'conversion'", "lead"): ["conversion status"],
    f"UPDATE clicks SET partner_id = 404 WHERE {one('clicks', 'filtered IS NOT NULL', 'click_id')}": [
        "clicks without a partner"
    ],
}


def test_every_corruption_is_reported(demo: Path, tmp_path: Path) -> None:
    assert corrupted(demo, tmp_path) == []
    for change, reported in CORRUPTIONS.items():
        lines = [line for line in corrupted(demo, tmp_path, change) if "rollup" not in line]
        assert [line.split(" of ")[0] for line in lines] == reported, change
    assert corrupted(demo, tmp_path, UNPAID)[0].endswith("stored 5, recomputed 0")
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
        lines = corrupted(demo, tmp_path, *without_keys, *named, doubled, f"ALTER TABLE copied RENAME TO {table}")
        assert [line for line in lines if line.startswith(f"{reported} of program ")], reported
    assert len(books.UNIQUE) == 11
