"""Upgrades with rows, from 0.2.0 and from the last development version before 0.3.0, and back; none from in between."""

import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from alembic import command
from sqlalchemy import Connection, MetaData, Table, insert, select, text

from storage import migrations
from storage.checks import ledger as ledger_check
from storage.engine import database
from storage.engine.lane import WriteLane
from storage.tables import commissions, customers, partners, payment_event_names, payment_events, program_places, sales
from tests import world
from tests.storage.test_migrations import difference

FOLDER = Path(__file__).parent.parent / "released"
ROWS = re.compile(r"^INSERT INTO (\w+) .*?;$", re.MULTILINE | re.DOTALL)
NEW_ROWS = (
    "INSERT INTO workspaces (name, created_at) VALUES ('-', 1) RETURNING id",
    "INSERT INTO programs (workspace_id, name, domain, created_at) VALUES (1, '-', '-', 1) RETURNING id",
)

SPELLINGS = {"Zoe-": "zoe", "zoe": None, "~~": "~~", "Yan_": "yan"}


@pytest.fixture
async def writer(empty_url: str) -> AsyncIterator[WriteLane]:
    """A lane of an empty database."""
    (lane, *_), _ = database.lanes(database.parse_url(empty_url))
    yield lane
    await lane.close()


@pytest.fixture
async def released(writer: WriteLane) -> WriteLane:
    """A lane of a database of 0.2.0 with rows."""
    await to(writer, "0006")
    await writer.run(lambda connection: fill(connection, "0.2.0"))
    return writer


async def to(lane: WriteLane, revision: str, change: Any = command.upgrade) -> None:
    await lane.run(lambda connection: change(migrations.config_for(connection), revision))


def fill(connection: Connection, version: str, *tables: str) -> None:
    """Store rows as an earlier version stored them: of all tables that its file has, or of some."""
    for stored in ROWS.finditer((FOLDER / f"{version}.sql").read_text(encoding="utf-8")):
        if not tables or stored[1] in tables:
            connection.exec_driver_sql(stored[0])


def described(connection: Connection) -> dict[str, Any]:
    """Return the rows, the indexes and the foreign keys of each table."""
    schema = MetaData()
    schema.reflect(connection)
    return {
        table.name: (
            sorted(map(repr, connection.execute(table.select()))),
            sorted(str((index.name, index.unique, index.columns.keys())) for index in table.indexes),
            sorted(str((key.name, key.column_keys, key.referred_table.name)) for key in table.foreign_key_constraints),
        )
        for table in schema.sorted_tables
        if table.name != "alembic_version"
    }


def broken(connection: Connection) -> list[Any]:
    """Return what SQLite finds wrong with the file."""
    if connection.dialect.name == "postgresql":
        return []
    checks = [connection.execute(text(f"PRAGMA {check}")).all() for check in ("integrity_check", "foreign_key_check")]
    return [row for rows in checks for row in rows if row != ("ok",)]


def reflected(connection: Connection, name: str) -> Table:
    return Table(name, MetaData(), autoload_with=connection)


def found(connection: Connection) -> dict[str, Any]:
    """Return what the migrations derive from the rows of 0.2.0."""
    pairs = {
        "provenance": (sales.c.transaction_id, sales.c.provenance),
        "confirmed": (customers.c.id, customers.c.confirmed),
        "approved_by": (commissions.c.id, commissions.c.approved_by_key_id),
        "outcomes": (payment_events.c.event_id, payment_events.c.outcome),
        "names": (payment_event_names.c.name, payment_event_names.c.event_id),
    }
    rows = {name: connection.execute(select(*columns)) for name, columns in pairs.items()}
    derived: dict[str, Any] = {name: dict(map(tuple, each)) for name, each in rows.items()}
    return derived | {
        "places": connection.execute(select(program_places.c.program_id)).scalars().all(),
        "accounts": [world.account(connection, 1, partner) for partner in (1, 2)],
        "differences": list(ledger_check.differences(connection)),
    }


DERIVED = {
    "provenance": {"a": "processor", "b": "api", "c": "api"},
    "confirmed": {1: True, 2: False},
    "approved_by": {11: None, 12: None, 13: 7},
    "outcomes": {"evt_0": "recorded", "evt_1": "organic", "evt_2": "waiting", "evt_3": "waiting"},
    "names": {"x": "evt_1", "pi": "evt_1", "y": "evt_2", "customer_key:user-9": "evt_2", "z": "evt_3"},
    "places": [1],
    "accounts": [{"commission": 400, "reversal": -200, "payout": -300}, {"commission": 200}],
    "differences": [],
}


async def test_a_database_of_a_development_version_is_upgraded_and_gives_out_no_id_again(released: WriteLane):
    await to(released, "0033")
    await released.run(lambda connection: fill(connection, "2026-11-22"))
    await released.run(lambda each: each.execute(reflected(each, "partners").update().values(notes="-")))
    before = await released.run(described)

    await to(released, "head")

    after = await released.run(described)
    assert await released.run(difference) == []
    assert await released.run(found) == DERIVED
    assert await released.run(broken) == []
    of_people, of_money = ("users", "invitations", "password_resets"), ("ledger_entries", "refunds", "commissions")
    of_sales = ("programs", "sales", "refused_calls", "commission_terms", "partners", "customers")
    assert {name for name in before if before[name][0] != after[name][0]} == {*of_people, *of_money, *of_sales}
    new_ids = await released.run(lambda connection: [connection.execute(text(sql)).scalar() for sql in NEW_ROWS])
    assert new_ids == [2, 73]


async def test_of_partners_whose_codes_become_one_the_first_has_it_in_every_spelling(released: WriteLane):
    await to(released, "0037")
    rows = [
        {"program_id": 1, "name": "-", "created_at": 1, "id": 90 + n, "code": code} for n, code in enumerate(SPELLINGS)
    ]
    await released.run(lambda connection: connection.execute(insert(reflected(connection, "partners")), rows))

    await to(released, "head")

    keys = select(partners.c.code, partners.c.code_key).where(partners.c.id >= 90)
    assert await released.run(lambda connection: dict(map(tuple, connection.execute(keys)))) == SPELLINGS


async def test_an_operator_goes_back_to_0_2_0_and_upgrades_again_with_all_rows(released: WriteLane):
    await to(released, "head")
    upgraded = await released.run(described)

    await to(released, "0006", command.downgrade)
    outcomes = await released.run(lambda c: c.execute(select(reflected(c, "payment_events").c.outcome)).scalars().all())
    clicks = await released.run(lambda c: c.execute(select(reflected(c, "clicks").c.click_id)).scalars().all())
    assert await released.run(broken) == []
    await to(released, "head")

    assert (sorted(outcomes), sorted(clicks)) == (["recorded", "waiting", "waiting", "waiting"], ["c1", "c2"])
    assert await released.run(described) == upgraded
    assert await released.run(difference) == []
    assert await released.run(found) == DERIVED
    assert await released.run(broken) == []


@pytest.mark.parametrize(
    ("revision", "through"),
    [
        ("0003", "version 0.2.0 first"),
        ("0007", "the development version of 2026-11-22 first"),
        ("0034", "the development version of 2026-11-22 first"),
        ("0036", "version 0.3.0 first"),
        ("0048", "the development version of 2026-11-24 first"),
        ("9999", "the version that migrated it"),
    ],
)
async def test_a_schema_without_upgrade_is_left_alone(writer: WriteLane, empty_url: str, revision: str, through: str):
    version = f"CREATE TABLE alembic_version AS SELECT CAST('{revision}' AS VARCHAR(32)) AS version_num"
    await writer.run(lambda connection: connection.execute(text(version)))

    with pytest.raises(migrations.UnknownSchemaError) as unknown:
        await migrations.upgrade(empty_url)

    assert through in unknown.value.hint
    assert await writer.run(lambda connection: list(described(connection))) == []
