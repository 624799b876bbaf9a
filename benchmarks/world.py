"""What the database holds before a benchmark: programs with partners, customers to sell to, clicks by the million."""

import asyncio
import json
import random
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from functools import partial
from itertools import islice, product
from pathlib import Path
from typing import Any, NamedTuple

from sqlalchemy import Connection, Table, TextClause, func, select, text

import storage
from storage import migrations
from storage.access import agent_keys, sessions
from storage.engine import database
from storage.management import partners
from storage.rules.scope import Scope
from storage.tracking import currencies
from tests import postgres, world

CODES = [f"partner-{n}" for n in range(20)]  # of every program
# What clicks have, and the dimensions that they have in turn.
VISIT, CAME_WITH = json.loads(Path(__file__).with_name("visit.json").read_text(encoding="utf-8")).values()
CARRIED = 400
COLUMNS = ("program_id", "partner_id", "click_id", "at", "landing_url", "page_url", *VISIT)
INSERT = text(f"INSERT INTO clicks ({', '.join(COLUMNS)}) VALUES (:{', :'.join(COLUMNS)})")


class World(NamedTuple):
    """The programs as the tests know them, the customers of the first, a key of an agent, a session of the owner."""

    programs: list[world.World]
    customers: list[str]
    agent_key: str
    session: str


async def create(url: str, *, programs: int = 1, customers: int = 0, codes: Sequence[str] = CODES) -> World:
    """Migrate an empty database and fill it through the service's own operations."""
    await migrations.upgrade(url)
    at = datetime.now(UTC)
    async with storage.opened(url) as store:
        await store.write(currencies.load, [(at.date(), "USD", "1.1")])
        first = await world.acme(store, platform_fee_bps=500)
        others = [await world.program_of(store, first.workspace_id, first.owner_id) for _ in range(1, programs)]
        for program, code in product((first, *others), codes):
            await store.write(partners.enrol, program.program_id, name=code, code=code, by=world.SETUP)
        agent = await store.write(agent_keys.issue, first.workspace_id, name="Load", scopes=tuple(Scope), at=at)
        session = await store.write(sessions.start, first.owner_id, at=at)
        sent_by = {f"customer-{n}": codes[n % len(codes)] for n in range(customers)}
        await asyncio.gather(*(first.customer(name, code, at=at) for name, code in sent_by.items()))
        await asyncio.gather(*(first.sale(name, 10**6, customer_key=name, at=at) for name in sent_by))
    return World([first, *others], list(sent_by), agent.secret, session.token)


async def count(url: str, table: Table) -> Any:
    async with storage.opened(url) as store:
        return await store.read(Connection.scalar, select(func.count()).select_from(table))


async def load_clicks(url: str, shop: World, number: int, since: datetime, *, carried_by: int = CARRIED) -> list[str]:
    """Store clicks from `since` until now past the service's checks; return the ids of some, for visitors to carry."""
    carried: list[str] = []
    rows = _rows(shop, number, since, carried, number // carried_by)
    await execute(url, INSERT, iter(lambda: list(islice(rows, 20_000)), []))
    if url.startswith("postgresql"):
        await postgres.execute(url, "VACUUM (ANALYZE)", "CHECKPOINT")  # what is left would slow the rounds
    return carried


async def roll_up(url: str) -> None:
    """Count the clicks of each day, as the service's own operations would have."""
    day = "date(at / 1000, 'unixepoch')" if url.startswith("sqlite") else "to_timestamp(at / 1000)::date"
    counted = f"SELECT program_id, {day}, count(*) FROM clicks WHERE true GROUP BY program_id, {day}"
    update = "ON CONFLICT (program_id, day) DO UPDATE SET clicks = excluded.clicks"
    await execute(url, text(f"INSERT INTO rollups (program_id, day, clicks) {counted} {update}"))


async def execute(url: str, statement: TextClause, parameters: Iterable[Any] = (None,)) -> None:
    """Execute a statement, with some rows after others, past the service's queue, which does not wait for so long."""
    lane = database.lanes(database.parse_url(url), patient=True)[0][0]
    for some in parameters:
        await lane.run(partial(Connection.execute, statement=statement, parameters=some))
    await lane.close()


def _rows(shop: World, number: int, since: datetime, carried: list[str], every: int) -> Iterator[dict[str, Any]]:
    each, begin = number // len(shop.programs), since.timestamp() * 1000
    step = (datetime.now(UTC).timestamp() * 1000 - begin) / each
    for program, n in product(shop.programs, range(each)):
        at, page = int(begin + n * step), f"https://shop.example/pricing/{n}"
        click_id = f"{at:012x}{random.getrandbits(80):020x}-{program.program_id:x}"
        if n % every == 0:
            carried.append(click_id)
        values = (program.program_id, program.anna, click_id, at, f"{page}?aff=anna", page)
        yield dict(zip(COLUMNS, values, strict=False)) | VISIT | {"dimensions": CAME_WITH[n % len(CAME_WITH)]}
