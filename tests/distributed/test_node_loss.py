"""A worker stops: its programs wait for it, the others do not notice, and nothing acknowledged is lost."""

import asyncio

from sqlalchemy import select

import storage
from storage import Storage
from storage.checks import books
from storage.tables import clicks
from tests.citus import Cluster
from tests.distributed.conftest import one_on_each_node
from tests.faults import campaign, catalog
from tests.serving import Serve
from tests.test_journeys import Integrator
from tests.world import World


async def test_the_programs_of_a_stopped_worker_get_503_and_the_others_200(
    acme: World, citus_cluster: Cluster, citus_url: str, serve: Serve
):
    programs = await one_on_each_node(acme)
    lost, *_ = citus_cluster.workers
    server = serve(citus_url)
    gone, kept = (Integrator(server, programs[worker.port]) for worker in citus_cluster.workers)
    async with gone, kept:
        acknowledged = [(await each.click()).json()["click_id"] for each in (gone, kept) for _ in range(8)]
        async with catalog.stopped(lost):
            without = await asyncio.gather(*(each.click() for each in (gone, kept) for _ in range(8)))
            ready = await kept.client.get("/readyz")
        back = [await each.click() for each in (gone, kept)]

    assert [response.status_code for response in without] == [503] * 8 + [200] * 8
    assert {response.json()["error"]["code"] for response in without[:8]} == {"storage_unavailable"}
    assert all(int(response.headers["Retry-After"]) > 0 for response in without[:8])
    assert ready.status_code == 200
    assert [response.status_code for response in back] == [200, 200]
    acknowledged += [response.json()["click_id"] for response in (*without[8:], *back)]
    async with storage.opened(citus_url) as store:
        assert set(await _stored(store)) == set(acknowledged)
        assert await store.read(books.run) == []


async def _stored(store: Storage) -> list[str]:
    return await store.read(lambda connection: list(connection.execute(select(clicks.c.click_id)).scalars()))


async def test_two_workers_serve_eight_programs_on_citus_without_a_deadlock():
    (fault,) = (each for each in catalog.FAULTS if each.name.endswith("Citus"))

    outcome = await campaign.run(fault, times=1)

    assert outcome.is_clean, str(outcome)
