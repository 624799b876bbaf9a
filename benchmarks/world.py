"""What the database holds before a benchmark: programs with partners, customers to sell to, clicks by the million."""

import asyncio
import sqlite3
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from sqlalchemy import Connection, Table, func, select

import storage
from storage import Storage, migrations
from storage.access import program_keys, workspaces
from storage.management import partners, program_settings
from storage.rules import keys
from storage.rules.errors import ServiceError
from storage.rules.settings import ProgramSettings
from storage.tracking import clicks, currencies, leads
from storage.tracking.clicks import Click
from storage.tracking.principals import PresentedKey
from storage.tracking.rejection_log import CallDetails
from storage.tracking.reported_leads import Lead

CODES = [f"partner-{n}" for n in range(20)]


class World(NamedTuple):
    """The programs; the first one's key and its customers. Every program has the same partner codes."""

    program_ids: list[int]
    codes: list[str]
    key: str
    customers: list[str]


async def create(url: str, *, programs: int = 1, customers: int = 0) -> World:
    """Migrate an empty database and fill it through the service's own operations."""
    await migrations.upgrade(url)
    async with storage.opened(url) as store:
        at = datetime.now(UTC)
        await store.write(currencies.load, [(at.date(), "USD", "1.1")])
        owner = await store.write(workspaces.create, "Shop", owner_email="o@shop.example", password_hash="-", at=at)
        program_ids = [await _program(store, owner.workspace_id, at) for _ in range(programs)]
        new_key = await store.write(program_keys.regenerate, program_ids[0], at=at)
        named = [f"customer-{n}" for n in range(customers)]
        await asyncio.gather(*(_customer(store, program_ids[0], new_key.secret, n, at) for n in range(customers)))
    return World(program_ids, CODES, new_key.secret, named)


async def _program(store: Storage, workspace_id: int, at: datetime) -> int:
    program_id: int = await store.write(
        program_settings.create, workspace_id, ProgramSettings("Shop", "shop.example", platform_fee_bps=500), at=at
    )
    for code in CODES:
        await store.write(partners.enrol, program_id, name=code, code=code, at=at)
    return program_id


async def _customer(store: Storage, program_id: int, key: str, n: int, at: datetime) -> None:
    click = Click(program_id, CODES[n % len(CODES)], "https://shop.example/", at, keys.click_id(program_id, at))
    clicked = await store.write(clicks.record, click)
    await handle(store, leads.record, Lead(clicked.click_id, f"customer-{n}", at), key=key, at=at)


async def handle(store: Storage, operation: Callable[..., Any], item: Any, *, key: str, at: datetime) -> None:
    """Run a tracking operation with a program's key; raise its error."""
    principal = PresentedKey(keys.digest(key), keys.key_program(key))
    outcome = await store.handle(operation, item, principal=principal, details=CallDetails("benchmark", "-", at))
    if isinstance(outcome.result, ServiceError):
        raise outcome.result


async def count(url: str, table: Table) -> int:
    """Return how many rows a table holds."""
    async with storage.opened(url) as store:
        return await store.read(_count, table)


def _count(connection: Connection, table: Table) -> int:
    return connection.execute(select(func.count()).select_from(table)).scalar_one()


_MANY_CLICKS = """
WITH RECURSIVE visit(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM visit WHERE n + 1 < :rows)
INSERT INTO clicks (program_id, click_id, partner_id, at, landing_url, page_url, page_title, referrer_url, visitor,
    referrer_host, dimensions)
SELECT :program_id, printf('%012x', :begin + n * :step) || lower(hex(randomblob(10))) || printf('-%x', :program_id),
    :partner_id, :begin + n * :step, 'https://shop.example/pricing/' || n || '?aff=partner-0',
    'https://shop.example/pricing/' || n, 'Pricing', 'https://news.example/',
    '{"language":"en-US","user_agent":"Mozilla/5.0 (Windows NT 10.0; Win64; x64) Chrome/140.0.0.0 Safari/537.36"}',
    'news.example', '{"device":"desktop","browser":"Chrome","os":"Windows","language":"en"}'
FROM visit
"""
_HALF_A_YEAR_MILLIS = 180 * 86_400_000


def load_clicks(path: Path, world: World, rows: int) -> list[str]:
    """Put `rows` clicks of the last half year into a SQLite file; return the ids of some, spread over all of them."""
    each = rows // len(world.program_ids)
    begin = int(datetime.now(UTC).timestamp() * 1000) - _HALF_A_YEAR_MILLIS
    connection = sqlite3.connect(path)
    connection.executescript("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -500000;")
    partner = "SELECT min(id) FROM partners WHERE program_id = ?"
    for program_id in world.program_ids:
        partner_id = connection.execute(partner, [program_id]).fetchone()[0]
        given = {"program_id": program_id, "partner_id": partner_id, "rows": each, "begin": begin}
        connection.execute(_MANY_CLICKS, {**given, "step": _HALF_A_YEAR_MILLIS // each})
        connection.commit()
    rowids = range(1, rows, max(1, rows // 400))
    found = [connection.execute("SELECT click_id FROM clicks WHERE rowid = ?", [n]).fetchone()[0] for n in rowids]
    connection.execute("PRAGMA journal_mode = WAL")
    connection.close()
    return found


_ROLL_UP = """
INSERT INTO rollups (program_id, day, clicks)
SELECT program_id, date(at / 1000, 'unixepoch') AS day, count(*) FROM clicks WHERE true GROUP BY program_id, day
ON CONFLICT DO UPDATE SET clicks = excluded.clicks
"""


def roll_up(path: Path) -> None:
    """Count the clicks that were loaded into a SQLite file, day by day, as recording them would have done."""
    with sqlite3.connect(path) as connection:
        connection.execute(_ROLL_UP)
    connection.close()
