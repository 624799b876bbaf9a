"""The tokens of batches: those of lanes that have been quiet for a day make room."""

from datetime import timedelta

from sqlalchemy import Connection, insert, select

from storage import Storage
from storage.engine import committed_batches
from storage.tables import committed_batches as of_lanes
from storage.tables import program_batches as of_programs
from tests.world import NOW


async def test_tokens_are_deleted_after_a_day(store: Storage):
    await store.write(_fill)

    pruned = await store.write(committed_batches.prune, at=NOW)

    assert pruned == 2
    assert await store.read(_lanes) == [["new"], ["new"]]


def _fill(connection: Connection) -> None:
    connection.execute(of_lanes.delete())
    for lane, at in (("new", NOW), ("old", NOW - timedelta(days=2))):
        connection.execute(insert(of_lanes).values(lane=lane, token="", at=at))
        connection.execute(insert(of_programs).values(program_id=1, lane=lane, token="", at=at))


def _lanes(connection: Connection) -> list[list[str]]:
    return [
        [lane for lane in connection.execute(select(table.c.lane)).scalars() if len(lane) < 5]
        for table in (of_lanes, of_programs)
    ]
