"""Programs of a distributed database, and the nodes that hold them."""

import pytest
from sqlalchemy import Connection, text

from tests import world
from tests.world import World

_PORT = text(
    "SELECT nodeport FROM pg_dist_shard_placement"
    " WHERE shardid = get_shard_id_for_distribution_column('clicks', CAST(:program AS BIGINT))"
)


@pytest.fixture
def database_url(citus_url: str) -> str:
    """The distributed database alone."""
    return citus_url


def port_of(connection: Connection, program_id: int) -> int:
    """Return the port of the node that holds a program."""
    port: int = connection.execute(_PORT, {"program": program_id}).scalar_one()
    return port


async def one_on_each_node(acme: World) -> dict[int, World]:
    """Return a program on each worker, by the worker's port."""
    store = acme.store
    programs: dict[int, World] = {}
    each = acme
    while len(programs) < 2:
        programs.setdefault(await store.read(port_of, each.program_id), each)
        each = await world.program_of(store, acme.workspace_id, acme.owner_id)
    return programs
