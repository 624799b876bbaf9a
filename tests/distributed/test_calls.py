"""On a distributed database each call is of one shard, whose node may stop: the other programs do not notice."""

import asyncio
import re
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from sqlalchemy import Connection, Engine, event, select, text

import storage
from storage import Storage
from storage.access import program_keys
from storage.checks import books
from storage.engine.audit import OPERATOR, By
from storage.lists.commissions import COMMISSIONS
from storage.lists.customers import CUSTOMERS
from storage.lists.declaration import NEWEST_FIRST, List, ListQuery, ListScope, Order
from storage.lists.find import find
from storage.lists.flags import FLAGS
from storage.lists.partners import PARTNERS
from storage.management import partners
from storage.reports import performance, program_status
from storage.rules import keys
from storage.rules.periods.period import DateRangeQuery
from storage.tables import clicks
from tests import world
from tests.citus import Cluster
from tests.faults import catalog
from tests.serving import Serve
from tests.tables import statements
from tests.test_journeys import Integrator
from tests.world import BY, LANDING_PAGE, NOW, World

FILL, PORT = (text(sql) for _, sql in statements("distributed/calls.sql"))
MORE_THAN_NEEDED = ("SubPlan", "Distributed Subplan", "pull to coordinator", "Seq Scan", "Materialize")
RARE = re.compile("committed_batches|pg_dist|citus_stat|FOR SHARE|set_config|EXPLAIN")


@pytest.fixture
def database_url(citus_url: str) -> str:
    """The distributed database alone."""
    return citus_url


async def test_each_statement_of_a_call_or_a_report_is_one_task_that_reads_by_key(store: Storage, acme: World):
    filled = {"program": acme.program_id, "partner": acme.anna, "at": 0, "url": LANDING_PAGE}
    for first in range(0, 100_000, 20_000):
        await store.write(Connection.execute, FILL, filled | {"first": first})
    seen: dict[str, Any] = {}
    event.listen(Engine, "before_cursor_execute", listen := _listener(seen))

    click_id = await acme.visitor()
    await acme.lead(click_id, is_trusted=False)
    await acme.lead(click_id, "user-1")
    await acme.sale()
    await acme.refund(amount_cents=100)
    await store.read(performance.read_performance, acme.program_id, DateRangeQuery("30d"), at=NOW)
    await store.read(program_status.get_status, keys.digest(acme.key), at=NOW, base_url="https://svc.example")

    event.remove(Engine, "before_cursor_execute", listen)

    plans = {statement: await store.write(_explain, statement, values) for statement, values in seen.items()}
    assert len(plans) > 10
    for statement, plan in plans.items():
        found = [scan for scan in MORE_THAN_NEEDED if scan in plan]
        assert found == [], (statement, plan)
        if "Citus Adaptive" in plan:
            assert "Task Count: 1" in plan, (statement, plan)


def _listener(seen: dict[str, Any]) -> Callable[..., None]:
    def listen(_connection: Any, _cursor: Any, statement: str, parameters: Any, *_: Any) -> None:
        if not RARE.search(statement) and "SAVEPOINT" not in statement:
            seen.setdefault(statement, parameters)

    return listen


def _explain(connection: Connection, statement: str, values: Any) -> str:
    rows = connection.exec_driver_sql(f"EXPLAIN {statement}", values)
    return "\n".join(row[0] for row in rows)


def port_of(connection: Connection, program_id: int) -> int:
    port: int = connection.execute(PORT, {"program": program_id}).scalar_one()
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


async def test_the_programs_of_a_stopped_worker_get_503_and_the_others_200(
    acme: World, citus_cluster: Cluster, citus_url: str, serve: Serve, record_property: Callable[[str, object], None]
):
    programs = await one_on_each_node(acme)
    lost, *_ = citus_cluster.workers
    server = serve(citus_url)
    gone, kept = (Integrator(server, programs[worker.port]) for worker in citus_cluster.workers)
    async with gone, kept:
        acknowledged = [(await each.click()).json()["click_id"] for each in (gone, kept) for _ in range(8)]
        async with catalog.stopped(lost):
            without = await asyncio.gather(*(each.click() for each in (gone, kept) for _ in range(8)))
            ready = await kept.get("/readyz")
        began = asyncio.get_running_loop().time()
        back = [await each.click() for each in (gone, kept)]
        record_property("seconds", asyncio.get_running_loop().time() - began)

    assert [response.status_code for response in without] == [503] * 8 + [200] * 8
    assert {response.json()["error"]["code"] for response in without[:8]} == {"storage_unavailable"}
    assert all(int(response.headers["Retry-After"]) > 0 for response in without[:8])
    assert (ready.status_code, ready.json()["status"]) == (200, "ok")
    assert [response.status_code for response in back] == [200, 200]
    acknowledged += [response.json()["click_id"] for response in (*without[8:], *back)]
    async with storage.opened(citus_url) as store:
        stored = await store.read(lambda connection: set(connection.execute(select(clicks.c.click_id)).scalars()))
        assert stored == set(acknowledged)
        assert await store.read(books.run) == []


async def test_with_a_worker_down_other_programs_are_managed(acme: World, citus_cluster: Cluster, citus_url: str):
    programs = await one_on_each_node(acme)
    lost, left = citus_cluster.workers
    kept = programs[left.port]
    async with catalog.stopped(lost), storage.opened(citus_url) as store:
        await store.watch_nodes()
        scope = ListScope(kept.program_id, NOW)
        lists: tuple[List[Any], ...] = (PARTNERS, COMMISSIONS, CUSTOMERS, FLAGS)
        for each in lists:
            for order in (NEWEST_FIRST, *(Order(name) for name in each.sorts)):
                query = ListQuery(order=order, has_totals=True)
                await store.read(lambda connection: find(connection, each, scope, query))  # noqa: B023 - read at once
        await store.write(partners.change, kept.program_id, kept.anna, {"name": "Anna B"}, by=BY)

        assert store.lacking == [f"node 127.0.0.1:{lost.port}"]
        assert store.is_available
    await acme.store.watch_nodes()
    assert acme.store.lacking == []


async def test_a_leaked_key_is_replaced_in_an_outage(acme: World, citus_cluster: Cluster, citus_url: str, serve: Serve):
    programs = await one_on_each_node(acme)
    lost, left = citus_cluster.workers
    kept = programs[left.port]
    server = serve(citus_url)
    async with Integrator(server, kept) as leaked:
        await leaked.customer()
        async with catalog.stopped(lost), storage.opened(citus_url) as store:
            new = await store.write(program_keys.regenerate, kept.program_id, by=By(OPERATOR, datetime.now(UTC)))
            async with Integrator(server, kept, new.api_token) as shop:
                rejected, accepted = await leaked.sale(), await shop.sale()

    assert (rejected.status_code, rejected.json()["error"]["code"]) == (401, "invalid_key")
    assert accepted.status_code == 200
