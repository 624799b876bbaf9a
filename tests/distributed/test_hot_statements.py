"""On a distributed database each call is of one shard: no statement visits several, none reads more than it needs."""

import re
from collections.abc import Callable
from typing import Any

from sqlalchemy import Connection, Engine, event, text

from storage import Storage
from storage.reading import performance, program_status
from storage.rules import keys
from storage.rules.period import DateRangeQuery
from tests.world import LANDING_PAGE, NOW, World

COUNTED = text("SELECT sum(query_execution_multi_shard), sum(query_execution_single_shard) FROM citus_stat_counters")
FILL = text(
    "INSERT INTO clicks (program_id, click_id, partner_id, at, landing_url)"
    " SELECT p.program_id, lpad(to_hex(n), 32, '0'), :partner, :at, :url"
    " FROM program_places AS p, generate_series(:first, :first + 19999) AS n WHERE p.program_id = :program"
)
RARE = re.compile("committed_batches|pg_dist|citus_stat|FOR SHARE|set_config|EXPLAIN")


async def everything(acme: World) -> None:
    """Send one call of each kind, and read the report and the status."""
    click_id = await acme.visitor()
    await acme.lead(click_id, is_trusted=False)
    await acme.lead(click_id, "user-1")
    await acme.sale()
    await acme.sale("inv-2")
    await acme.refund(amount_cents=100)
    await read_all(acme)


async def read_all(acme: World) -> None:
    """Read the report and the status."""
    await acme.store.read(performance.get_report, acme.program_id, DateRangeQuery("30d"), at=NOW)
    key = keys.digest(acme.key)
    await acme.store.read(program_status.get_status, key, at=NOW, base_url="https://svc.example")


async def test_no_call_and_no_report_is_executed_on_several_shards(store: Storage, acme: World):
    await everything(acme)  # a first time, for what connections ask when they open
    before = await store.read(lambda connection: connection.execute(COUNTED).one())

    await everything_again(acme)

    after = await store.read(lambda connection: connection.execute(COUNTED).one())
    assert after[0] == before[0]
    assert after[1] > before[1]


async def everything_again(acme: World) -> None:
    """Send the calls with other ids."""
    click_id = await acme.visitor()
    await acme.lead(click_id, "user-2")
    await acme.sale("inv-3", customer_key="user-2")
    await acme.refund("inv-3")
    await read_all(acme)


async def test_each_statement_of_a_call_is_one_task_that_reads_by_key(store: Storage, acme: World):
    filled = {"program": acme.program_id, "partner": acme.anna, "at": 0, "url": LANDING_PAGE}
    for first in range(0, 100_000, 20_000):
        await store.write(lambda connection, part=filled | {"first": first}: connection.execute(FILL, part).rowcount)
    seen: dict[str, Any] = {}
    event.listen(Engine, "before_cursor_execute", listen := _listener(seen))

    await everything(acme)

    event.remove(Engine, "before_cursor_execute", listen)

    plans = {statement: await store.write(_explain, statement, values) for statement, values in seen.items()}
    assert len(plans) > 10
    for statement, plan in plans.items():
        assert "SubPlan" not in plan, (statement, plan)
        assert "Distributed Subplan" not in plan, (statement, plan)
        assert "pull to coordinator" not in plan, (statement, plan)
        assert "Seq Scan" not in plan, (statement, plan)
        assert "Materialize" not in plan, (statement, plan)
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
