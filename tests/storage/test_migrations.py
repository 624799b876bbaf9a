"""Migrations: an empty database becomes what the models say, once, however many processes start together."""

import asyncio
import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import Connection, column, func, select, table

import storage
from storage import Storage, migrations
from storage.engine import database
from storage.tables import metadata

ROOT = Path(__file__).parent.parent.parent


def difference(connection: Connection) -> list[Any]:
    by_month = database.is_server(connection)  # then clicks have no foreign key, and partitions as tables

    def is_in_models(item: Any, name: str | None, kind: str, *_: Any) -> bool:
        is_key = kind == "foreign_key_constraint" and item.table.name == "clicks"
        return not by_month or not (is_key or str(name).startswith("clicks_"))

    opts = {"compare_type": True, "target_metadata": metadata, "include_object": is_in_models}
    context = MigrationContext.configure(connection, opts=opts)
    return list(compare_metadata(context, metadata))


async def test_models_and_migrations_agree(database_url: str):
    async with storage.opened(database_url, patient=True) as store:  # Citus describes hundreds of tables
        assert await store.write(difference) == []


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
SALE |= {"occurred_at": MARCH, "at": MARCH}
EARNED = {"program_id": 1, "terms_version": 1, "amount_cents": 200, "currency": "USD", "hold_until": MARCH}
EARNED |= {"created_at": MARCH}
# Of each table: rows as 0.2.0 stored them. Commission 11 was paid, then half of its sale was refunded; half of sale 12
# was refunded, then its commission was paid; commission 13 was approved with an agent key.
ROWS: dict[str, list[dict[str, Any]]] = {
    "workspaces": [{"id": 1, "name": "Acme", "created_at": MARCH}],
    "programs": [{"id": 1, "workspace_id": 1, "name": "Acme", "domain": "acme.example", "created_at": MARCH}],
    "commission_terms": [
        {"program_id": 1, "version": 1, "commission_type": "percent", "rate": 2_000, "created_at": MARCH}
        | {"lead_commission_cents": 0, "platform_fee_bps": 1_000}
    ],
    "partners": [PARTNER | {"id": 1, "name": "Anna", "code": "anna"}, PARTNER | {"id": 2, "name": "Ben", "code": "b"}],
    "clicks": [
        {"program_id": 1, "click_id": f"c{partner}", "partner_id": partner, "at": MARCH, "landing_url": "/"}
        for partner in (1, 2)
    ],
    "customers": [
        CUSTOMER | {"id": 1, "partner_id": 1, "click_id": "c1", "created_at": MARCH},
        CUSTOMER | {"id": 2, "partner_id": 2, "click_id": "c2", "created_at": MARCH},
    ],
    "leads": [
        {"program_id": 1, "id": customer, "customer_id": customer, "partner_id": customer, "settlement": "settled"}
        | {"with_key": customer == 1, "at": MARCH}
        for customer in (1, 2)
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
        EARNED | {"id": 11, "sale_id": 11, "partner_id": 1, "customer_id": 1, "status": "paid", "paid_at": MARCH + DAY},
        EARNED | {"id": 12, "sale_id": 12, "partner_id": 1, "customer_id": 1, "status": "paid", "paid_at": MARCH + DAY},
        EARNED | {"id": 13, "sale_id": 13, "partner_id": 2, "customer_id": 2, "status": "approved", "paid_at": None},
    ],
    "ledger_entries": [
        {"program_id": 1, "commission_id": commission, "id": ID + n, "kind": kind, "amount_cents": cents}
        | {"partner_id": 2 if commission == 13 else 1, "at": MARCH}
        for n, (commission, kind, cents) in enumerate(
            (
                (11, "commission", 200),
                (11, "platform_fee", 20),
                (11, "payout", -200),
                (11, "reversal", -100),
                (11, "platform_fee_reversal", -10),
                (12, "commission", 200),
                (12, "platform_fee", 20),
                (12, "reversal", -100),
                (12, "platform_fee_reversal", -10),
                (12, "payout", -100),
                (13, "commission", 200),
                (13, "platform_fee", 20),
            )
        )
    ],
    "audit_entries": [
        {"program_id": 1, "id": 1, "actor_type": "agent_key", "actor_id": "7", "actor_name": "A key", "at": MARCH}
        | {"action": "commission.decide", "subject_id": "13", "field": "status", "after": '"approved"'}
    ],
    "test_events": [{"program_id": 1, "id": 1, "kind": "sale", "is_test": True, "with_key": True, "at": MARCH}],
    "refused_calls": [
        {"program_id": 1, "id": 1, "call": "sale", "code": "not_found", "status": 400, "message": "-", "at": MARCH}
    ],
    "payment_accounts": [
        {"program_id": 1, "provider": "stripe", "account_id": "acct_1", "sealed_secrets": "", "connected_at": MARCH}
    ],
    "payment_customers": [{"program_id": 1, "processor_customer": "cus_1", "click_id": "c1"}],
    "payment_references": [
        {"program_id": 1, "reference": reference, "transaction_id": sale}
        for reference, sale in (("a", "a"), ("i", "b"))
    ],
    "payment_events": [
        {"program_id": 1, "event_id": f"evt_{n}", "id": n, "type": "invoice.paid", "outcome": outcome}
        | {"payment": json.dumps(payment), "occurred_at": MARCH, "received_at": MARCH}
        for n, (outcome, payment) in enumerate(
            (
                ("recorded", {"version": 1, "transaction_id": "a", "references": ["a"], "processor_customer": "cus_1"}),
                ("waiting", {"version": 1, "transaction_id": "x", "references": ["x", "pi"], "click_id": None}),
                ("waiting", {"version": 1, "transaction_id": "y", "references": ["y"], "customer_key": "user-9"}),
                ("waiting", {"Returned": {"reference": "z", "return_id": "re"}}),
            )
        )
    ],
}


async def test_a_running_process_goes_on_beside_a_later_version_and_not_on_an_older_schema(store: Storage):
    version = table("alembic_version", column("version_num"))
    head = await store.read(lambda connection: connection.execute(select(version.c.version_num)).scalar_one())

    states = []
    for revision in ("9999", "0001", "0029", head):  # at last its own: on a cluster other tests use the database, too
        to = version.update().values(version_num=revision)
        await store.write(Connection.execute, to)
        states.append((await store.read(migrations.is_usable), await store.read(migrations.is_current)))

    assert states == [(True, False), (False, False), (False, False), (True, True)]


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

    assert found <= {"0028"}  # from before the rule
