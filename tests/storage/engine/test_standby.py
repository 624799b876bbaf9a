"""A real streaming replica of PostgreSQL: reports are read there, and its lag is known."""

from datetime import UTC, datetime
from typing import Any

import pytest
from sqlalchemy import text

import storage
from storage import migrations
from storage.reading import performance
from storage.rules.period import DateRangeQuery
from tests import postgres, world
from tests.world import NOW


@pytest.mark.postgresql
async def test_a_report_comes_from_the_replica_once_it_has_the_rows():
    with postgres.running() as primary, postgres.standby_of(primary) as standby:
        await migrations.upgrade(primary.url)
        async with storage.opened(primary.url, replica_url=standby.url) as store:
            acme = await world.acme(store)
            await acme.customer()
            await acme.sale()

            await store.measure_replica(at=datetime.now(UTC))
            in_recovery, report = await store.report(_report, acme.program_id)

            lag_seconds = store.measures().replica_lag_seconds

    assert lag_seconds is not None
    assert lag_seconds < 1
    assert (in_recovery, report.current.revenue_cents) == (True, 10_000)


def _report(connection: Any, program_id: int) -> tuple[bool, Any]:
    in_recovery = connection.execute(text("SELECT pg_is_in_recovery()")).scalar()
    return in_recovery, performance.get_report(connection, program_id, DateRangeQuery("30d"), at=NOW)
