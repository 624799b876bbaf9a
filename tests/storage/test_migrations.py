"""Migrations: an empty database becomes what the models say, once, however many processes start together."""

import asyncio
import os
import re
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import Connection, MetaData, column, func, insert, select, table

import storage
from storage import Storage, migrations
from storage.checks import ledger as ledger_check
from storage.engine import database
from storage.tables import ledger_entries, metadata, payment_accounts
from storage.tables import test_events as tried_events
from storage.tracking import ledger

ROOT = Path(__file__).parent.parent.parent


def difference(connection: Connection) -> list[Any]:
    by_month = database.has_partitions(connection)  # then clicks have no foreign key, and partitions as tables

    def is_in_models(item: Any, name: str | None, kind: str, *_: Any) -> bool:
        is_key = kind == "foreign_key_constraint" and item.table.name == "clicks"
        return not by_month or not (is_key or str(name).startswith("clicks_"))

    opts = {"compare_type": True, "target_metadata": metadata, "include_object": is_in_models}
    context = MigrationContext.configure(connection, opts=opts)
    return list(compare_metadata(context, metadata))


async def test_models_and_migrations_agree(database_url: str):
    async with storage.opened(database_url, patient=True) as store:  # Citus describes hundreds of tables
        assert await store.write(difference) == []


async def test_a_migrated_database_is_reported_as_migrated(store: Storage):
    assert await store.read(migrations.is_current)


async def test_upgrading_again_changes_nothing(database_url: str):
    await migrations.upgrade(database_url)

    async with storage.opened(database_url) as store:
        assert await store.read(migrations.is_current)


def test_two_processes_that_start_together_migrate_once(empty_url: str):
    command = [sys.executable, "-m", "cli", "admin", "db", "upgrade", "--json"]
    environment = os.environ | {"SVC_DATABASE_URL": empty_url, "PYTHONPATH": str(ROOT)}

    started = [
        subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL) for _ in range(3)
    ]
    problems = [process.communicate()[1].decode() for process in started]

    assert [process.returncode for process in started] == [0, 0, 0], problems
    assert asyncio.run(applied(empty_url)) == 1


async def applied(url: str) -> int:
    versions = select(func.count()).select_from(table("alembic_version"))
    async with storage.opened(url) as store:
        return await store.read(lambda connection: connection.execute(versions).scalar_one())


MARCH = 1_772_323_200_000  # 2026-03-01, in milliseconds
ID = 194_486_399_000_000  # a second earlier, in microseconds since 2020
DAY = 86_400_000
PARTNER = {"program_id": 1, "status": "active", "created_at": MARCH}
CUSTOMER = {"program_id": 1, "clicked_at": MARCH, "status": "conversion", "settlement": "settled", "revision": 1}
SALE = {"program_id": 1, "amount_cents": 1_000, "currency": "USD", "program_cents": 1_000, "payload_hash": ""}
EARNED = {"program_id": 1, "terms_version": 1, "amount_cents": 200, "currency": "USD", "hold_until": MARCH}
# Of each table: rows as the first release stored them. Commission 11 was paid, then half of its sale was refunded;
# half of sale 12 was refunded, then its commission was paid; commission 13 is pending, and an entry of it was given
# the id of one of commission 12's.
ROWS: dict[str, list[dict[str, Any]]] = {
    "workspaces": [{"id": 1, "name": "Acme", "created_at": MARCH}],
    "programs": [{"id": 1, "workspace_id": 1, "name": "Acme", "domain": "acme.example", "created_at": MARCH}],
    "commission_terms": [
        {"program_id": 1, "version": 1, "commission_type": "percent", "rate": 2_000, "created_at": MARCH}
        | {"lead_commission_cents": 0, "platform_fee_bps": 1_000}
    ],
    "partners": [PARTNER | {"id": 1, "name": "Anna", "code": "anna"}, PARTNER | {"id": 2, "name": "Ben", "code": "b"}],
    "customers": [
        CUSTOMER | {"id": 1, "partner_id": 1, "click_id": "c1", "created_at": MARCH},
        CUSTOMER | {"id": 2, "partner_id": 2, "click_id": "c2", "created_at": MARCH},
    ],
    "sales": [
        SALE | {"id": 11, "transaction_id": "a", "customer_id": 1, "partner_id": 1, "refunded_cents": 500},
        SALE | {"id": 12, "transaction_id": "b", "customer_id": 1, "partner_id": 1, "refunded_cents": 500},
        SALE | {"id": 13, "transaction_id": "c", "customer_id": 2, "partner_id": 2, "refunded_cents": 0},
    ],
    "refunds": [
        {"program_id": 1, "id": sale, "sale_id": sale, "amount_cents": 500, "program_cents": 500}
        | {"reversed_cents": 100, "at": at}
        for sale, at in ((11, MARCH + 2 * DAY), (12, MARCH))
    ],
    "commissions": [
        EARNED | {"id": 11, "sale_id": 11, "partner_id": 1, "customer_id": 1, "status": "paid"},
        EARNED | {"id": 12, "sale_id": 12, "partner_id": 1, "customer_id": 1, "status": "paid"},
        EARNED | {"id": 13, "sale_id": 13, "partner_id": 2, "customer_id": 2, "status": "pending"},
    ],
    "ledger_entries": [
        {"program_id": 1, "commission_id": commission, "id": entry_id, "kind": kind, "amount_cents": cents}
        for commission, entry_id, kind, cents in (
            (11, ID, "commission", 200),
            (11, ID + 1, "platform_fee", 20),
            (11, ID + 2 * DAY * 1_000 + 10**6, "reversal", -100),
            (11, ID + 2 * DAY * 1_000 + 10**6 + 1, "platform_fee_reversal", -10),
            (12, ID + 2, "commission", 200),
            (12, ID + 3, "platform_fee", 20),
            (12, ID + 4, "reversal", -100),
            (12, ID + 5, "platform_fee_reversal", -10),
            (13, ID + 2, "commission", 200),
            (13, ID + 6, "platform_fee", 20),
        )
    ],
    "test_events": [
        {"program_id": 1, "id": 1, "kind": "sale", "is_test": True, "with_key": True, "payload": "{}", "at": MARCH}
    ],
    "payment_accounts": [
        {"program_id": 1, "provider": "stripe", "account_id": "acct_1", "sealed_secrets": "", "connected_at": MARCH}
    ],
}
LATER: dict[str, dict[str, Any]] = {
    "sales": {"occurred_at": MARCH, "at": MARCH},
    "commissions": {"created_at": MARCH},
    "ledger_entries": {"at": MARCH},
}


def fill(connection: Connection) -> None:
    """Store the rows in the tables that this schema has."""
    schema = MetaData()
    schema.reflect(connection)
    for name, rows in ROWS.items():
        if name in schema.tables:
            connection.execute(insert(schema.tables[name]), [LATER.get(name, {}) | row for row in rows])
    earned = schema.tables["commissions"]
    paid = earned.update().where(earned.c.status == "paid")
    connection.execute(paid.values(paid_at=MARCH + DAY))


@pytest.mark.parametrize("revision", ["0001", "0002", "0003", "0004", "0005"])
async def test_partners_get_accounts_from_each_earlier_schema(revision: str, empty_url: str) -> None:
    [writer, *_] = lanes = database.writers(database.parse_url(empty_url))
    await writer.run(lambda connection: command.upgrade(migrations.config_for(connection), revision))
    await writer.run(fill)

    await writer.run(lambda connection: command.upgrade(migrations.config_for(connection), "head"))

    assert await writer.run(difference) == []
    assert await writer.run(lambda connection: list(ledger_check.differences(connection))) == []
    assert await writer.run(accounts) == {1: ledger.Balance(200, 300), 2: ledger.Balance(200, 0)}
    assert await writer.run(payouts) == [(11, -200), (12, -100)]
    kept = 1 if revision >= "0003" else 0
    assert await writer.run(lambda c: (count(c, tried_events), count(c, payment_accounts))) == (1, kept)
    await asyncio.gather(*(lane.close() for lane in lanes))


def accounts(connection: Connection) -> dict[int, ledger.Balance]:
    return {partner_id: ledger.balance(connection, 1, partner_id) for partner_id in (1, 2)}


def payouts(connection: Connection) -> list[tuple[int, int]]:
    entry = ledger_entries.c
    paid = select(entry.commission_id, entry.amount_cents).where(entry.kind == ledger.EntryKind.PAYOUT)
    return [tuple(row) for row in connection.execute(paid.order_by(entry.commission_id))]


def count(connection: Connection, counted: Any) -> int:
    return connection.execute(select(func.count()).select_from(counted)).scalar_one()


async def test_the_migration_of_accounts_can_be_reversed(empty_url: str) -> None:
    [writer, *_] = lanes = database.writers(database.parse_url(empty_url))
    for change, revision in ((command.upgrade, "0005"), (command.upgrade, "head"), (command.downgrade, "0005")):
        await writer.run(lambda c, change=change, to=revision: change(migrations.config_for(c), to))  # type: ignore[misc]
    await writer.run(fill)

    await writer.run(lambda connection: command.upgrade(migrations.config_for(connection), "head"))

    assert await writer.run(difference) == []
    assert await writer.run(accounts) == {1: ledger.Balance(200, 300), 2: ledger.Balance(200, 0)}
    await asyncio.gather(*(lane.close() for lane in lanes))


async def test_a_running_process_goes_on_beside_a_later_version_and_not_on_an_older_schema(store: Storage):
    version = table("alembic_version", column("version_num"))
    head = await store.read(lambda connection: connection.execute(select(version.c.version_num)).scalar_one())

    states = []
    for revision in ("9999", "0001", head):  # at last its own: on a cluster other tests use the database, too
        await store.write(lambda connection, to=revision: connection.execute(version.update().values(version_num=to)))
        states.append((await store.read(migrations.is_usable), await store.read(migrations.is_current)))

    assert states == [(True, False), (False, False), (True, True)]


def test_the_command_for_a_new_migration_writes_the_next_one_and_a_database_upgrades_to_it(tmp_path: Path):
    shutil.copytree(ROOT / "storage", tmp_path / "storage", ignore=shutil.ignore_patterns("__pycache__"))
    versions = tmp_path / "storage/migrations/versions"
    before = {path.name[:4] for path in versions.glob("*.py")}
    upgrade = "import asyncio, storage.migrations as m; asyncio.run(m.upgrade('sqlite+aiosqlite:///new.db'))"

    for command_line in (["-m", "storage.migrations", "Say something new"], ["-c", upgrade]):
        subprocess.run([sys.executable, *command_line], cwd=tmp_path, env=os.environ | {"PYTHONPATH": ""}, check=True)

    [written] = versions.glob("*_say_something_new.py")
    assert written.name[:4] == f"{int(max(before)) + 1:04}"
    with sqlite3.connect(tmp_path / "new.db") as new:
        assert new.execute("SELECT version_num FROM alembic_version").fetchall() == [(written.name[:4],)]


def test_a_migration_leaves_what_the_release_before_uses():
    """Expand first: what no release uses any more goes later, in a migration that says "Unused since 1.2.0"."""
    takes_away = re.compile(r"drop_table|drop_column|new_column_name|RENAME COLUMN|DROP (TABLE|COLUMN)")
    demands = re.compile(r"add_column\((?!.*server_default).*nullable=False")  # the release before does not fill it
    found = set()
    for path in (ROOT / "storage/migrations/versions").glob("*.py"):
        source = path.read_text(encoding="utf-8")
        upgrade = source[source.index("def upgrade") : source.index("def downgrade")]
        if (takes_away.search(upgrade) or demands.search(upgrade)) and not re.search(r"Unused since \d", source):
            found.add(path.name[:4])

    assert found <= {"0006", "0007"}  # from before the rule
