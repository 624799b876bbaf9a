"""`storage.checks.books`: silent on what the operations wrote, and loud about every kind of corruption."""

import asyncio
import shutil
import sqlite3
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, select

import storage
from cli.demo import sample
from storage.checks import books
from storage.tables import sales
from storage.tracking import program_terms
from storage.tracking.program_terms import ProgramTerms

AT = datetime(2026, 11, 20, 12, tzinfo=UTC)
ONE_SALE = "rowid = (SELECT min(rowid) FROM sales WHERE refunded_cents = 0)"
ONE_ENTRY = "rowid = (SELECT min(rowid) FROM ledger_entries WHERE kind = '{}')"


def refundable(connection: Connection) -> tuple[Any, ProgramTerms]:
    """Return a sale that nobody refunded, and its program."""
    sale = connection.execute(select(sales).where(sales.c.refunded_cents == 0).limit(1)).one()
    return sale, program_terms.load(connection, [sale.program_id])[sale.program_id]


@pytest.fixture(scope="module")
def filled(sqlite_template: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database that holds the demo's workspace."""
    path = tmp_path_factory.mktemp("filled") / "svc.db"
    shutil.copy(sqlite_template, path)

    async def fill() -> None:
        async with storage.opened(f"sqlite+aiosqlite:///{path}") as store:
            await store.write(sample.create, password_hash="-", at=AT)

    asyncio.run(fill())
    return path


def corrupted(filled: Path, folder: Path, *statements: str) -> list[str]:
    """Return what the check reports once the statements have run over a copy of the database."""
    path = shutil.copy(filled, folder / "svc.db")
    connection = sqlite3.connect(path)
    for statement in statements:
        assert connection.execute(statement).rowcount != 0, statement
    connection.commit()
    connection.close()

    async def read() -> list[str]:
        async with storage.opened(f"sqlite+aiosqlite:///{path}") as store:
            return [str(difference) for difference in await store.read(books.run)]

    return asyncio.run(read())


def test_the_check_agrees_with_what_the_operations_wrote(filled: Path, tmp_path: Path) -> None:
    assert corrupted(filled, tmp_path) == []


@pytest.mark.parametrize("table", ["rollups", "partner_rollups"])
@pytest.mark.parametrize(
    "total", ["clicks", "leads", "conversions", "sales", "revenue_cents", "commission_cents", "partners"]
)
def test_a_changed_daily_total_is_reported_with_its_day(filled: Path, tmp_path: Path, table: str, total: str) -> None:
    change = f"UPDATE {table} SET {total} = {total} + 7 WHERE rowid = (SELECT max(rowid) FROM {table})"

    [line] = corrupted(filled, tmp_path, change)

    kind = "program rollup" if table == "rollups" else "partner rollup"
    assert line.startswith(f"{kind} {total} of program ")
    assert " on 2026-" in line


def test_a_lost_click_is_reported_for_its_program_and_its_partner(filled: Path, tmp_path: Path) -> None:
    one = "click_id = (SELECT min(click_id) FROM clicks WHERE filtered IS NULL)"

    lines = corrupted(filled, tmp_path, f"DELETE FROM clicks WHERE {one}")

    assert [line.split(" of ")[0] for line in lines] == ["program rollup clicks", "partner rollup clicks"]


@pytest.mark.parametrize(
    ("kind", "reported"),
    [
        ("commission", {"commission entry", "net commission", "balance"}),
        ("reversal", {"net commission", "balance"}),
        ("rejection", {"net commission", "balance"}),
        ("payout", {"payout", "balance"}),
        ("platform_fee", {"platform fee entry", "net platform fee"}),
        ("platform_fee_reversal", {"net platform fee"}),
    ],
)
def test_a_changed_ledger_entry_is_reported(filled: Path, tmp_path: Path, kind: str, reported: set[str]) -> None:
    change = f"UPDATE ledger_entries SET amount_cents = amount_cents + 1 WHERE {ONE_ENTRY.format(kind)}"

    lines = corrupted(filled, tmp_path, change)

    assert {line.split(" of ")[0] for line in lines if "rollup" not in line} == reported


def test_an_entry_on_another_partners_account_is_reported_for_both(filled: Path, tmp_path: Path) -> None:
    other = "(SELECT id FROM partners WHERE partners.program_id = ledger_entries.program_id AND id <> partner_id)"
    change = f"UPDATE ledger_entries SET partner_id = {other} WHERE {ONE_ENTRY.format('commission')}"

    lines = corrupted(filled, tmp_path, change)

    assert [line.split(" of ")[0] for line in lines] == ["balance", "balance"]


def test_a_lost_payout_is_reported(filled: Path, tmp_path: Path) -> None:
    lines = corrupted(filled, tmp_path, f"DELETE FROM ledger_entries WHERE {ONE_ENTRY.format('payout')}")

    assert [line.split(" of ")[0] for line in lines] == ["payout", "balance"]


def test_refunds_that_do_not_add_up_are_reported(filled: Path, tmp_path: Path) -> None:
    [line] = corrupted(filled, tmp_path, f"UPDATE sales SET refunded_cents = 5 WHERE {ONE_SALE}")

    assert line.startswith("refunded_cents of program ")
    assert line.endswith("stored 5, recomputed 0")


def test_refunds_that_exceed_their_sale_are_reported(filled: Path, tmp_path: Path) -> None:
    one = "(SELECT min(sale_id) FROM refunds)"
    more = f"UPDATE refunds SET amount_cents = amount_cents + 100000000 WHERE sale_id = {one}"

    lines = corrupted(filled, tmp_path, more)

    assert [line for line in lines if line.startswith("refunds within the sale's amount of program ")]


@pytest.mark.parametrize(
    ("change", "reported"),
    [
        ("first_purchase_at = first_purchase_at + 1 WHERE status = 'conversion'", {"first purchase in milliseconds"}),
        ("first_purchase_at = NULL WHERE status = 'conversion'", {"first purchase in milliseconds"}),
        ("first_purchase_at = 5 WHERE status = 'lead'", {"first purchase in milliseconds"}),
        ("status = 'lead' WHERE status = 'conversion'", {"conversion status"}),
        ("status = 'conversion' WHERE status = 'lead'", {"conversion status"}),
    ],
)
def test_a_customer_who_contradicts_their_sales_is_reported(
    filled: Path, tmp_path: Path, change: str, reported: set[str]
) -> None:
    condition = change.partition("WHERE ")[2]
    one = f"rowid = (SELECT min(rowid) FROM customers WHERE {condition})"

    lines = corrupted(filled, tmp_path, f"UPDATE customers SET {change} AND {one}")

    assert {line.split(" of ")[0] for line in lines if "rollup" not in line} == reported


def test_a_click_without_a_partner_is_reported(filled: Path, tmp_path: Path) -> None:
    one = "click_id = (SELECT min(click_id) FROM clicks WHERE filtered IS NOT NULL)"

    [line] = corrupted(filled, tmp_path, f"UPDATE clicks SET partner_id = 404 WHERE {one}")

    assert line.startswith("clicks without a partner of program ")


@pytest.mark.parametrize(
    ("table", "columns", "reported"),
    [
        ("sales", "transaction_id", "sales with one transaction_id"),
        ("customers", "customer_key", "customers with one customer_key"),
        ("customers", "click_id", "customers made from one click"),
        ("leads", "customer_id, settlement", "leads of one settlement"),
        ("commissions", "sale_id", "commissions on one sale"),
        ("commissions", "lead_id", "commissions on one lead"),
        ("refunds", "sale_id, refund_id", "refunds with one refund_id"),
        ("refunds", "request_id", "refunds by one request"),
        ("clicks", "click_id", "clicks with one click_id"),
        ("refused_calls", "request_id", "rejections of one request"),
    ],
)
def test_a_value_that_must_be_unique_and_is_not_is_reported(
    filled: Path, tmp_path: Path, table: str, columns: str, reported: str
) -> None:
    without_keys = [f"CREATE TABLE copied AS SELECT * FROM {table}", f"DROP TABLE {table}"]
    present, last = columns.split(", ", maxsplit=1)[0], columns.rsplit(", ", maxsplit=1)[-1]
    named = [f"UPDATE copied SET {last} = 'r' || id"] if table == "refunds" else []
    doubled = f"INSERT INTO copied SELECT * FROM copied WHERE {present} IS NOT NULL LIMIT 1"

    lines = corrupted(filled, tmp_path, *without_keys, *named, doubled, f"ALTER TABLE copied RENAME TO {table}")

    assert [line for line in lines if line.startswith(f"{reported} of program ")]
