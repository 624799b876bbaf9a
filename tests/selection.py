"""Which tests run: `-m "not slow"` leaves out those that start a browser, a server or a command; CI allows no skip.

With SVC_TEST_ON=citus those run that use the cluster; the others test SQLite or a plain PostgreSQL server.
"""

import os
from collections.abc import Generator

import pytest

from tests.citus import NO_CITUS, SKIPPED

SLOW_FIXTURES = {
    "browser",
    "postgres_server",
    "citus_cluster",
    "live_server",
    "serve",
    "service",
    "node",
    "svc",
    "redis_server",
    "shop",
}


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark as slow what uses a slow fixture, by name or as a parameter; on Citus keep what uses the cluster."""
    if os.environ.get("SVC_TEST_ON") == "citus":
        others = [item for item in items if not _uses_citus(item)]
        config.hook.pytest_deselected(items=others)
        items[:] = [item for item in items if _uses_citus(item)]
    for item in items:
        fixtures = set(getattr(item, "fixturenames", ()))
        parameters = getattr(item, "callspec", None)
        if fixtures & SLOW_FIXTURES or (parameters and "postgresql" in parameters.params.values()):
            item.add_marker("slow")


def _uses_citus(item: pytest.Item) -> bool:
    """Return whether a fixture, a parameter or the name of the test's file or of its fault says so."""
    fixtures = set(getattr(item, "fixturenames", ()))
    return "citus" in item.nodeid.lower() or not fixtures.isdisjoint({"citus_cluster", "postgres_url"})


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Turn a skip into a failure where SVC_NOTHING_SKIPPED is set; Citus is built only where its source is."""
    report = yield
    is_allowed = any(reason in str(report.longrepr) for reason in (NO_CITUS, SKIPPED))
    if report.skipped and "SVC_NOTHING_SKIPPED" in os.environ and not is_allowed:
        report.outcome = "failed"
        report.longrepr = f"SVC_NOTHING_SKIPPED forbids a skip: {report.longrepr}"
    return report
