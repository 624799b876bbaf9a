"""Which tests run: `-m "not slow"` leaves out those that start a browser, a server or a command; CI allows no skip."""

import os
from collections.abc import Generator

import pytest

from tests.citus import NO_CITUS

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


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark as slow what uses a slow fixture, by name or as a parameter."""
    for item in items:
        fixtures = set(getattr(item, "fixturenames", ()))
        parameters = getattr(item, "callspec", None)
        if fixtures & SLOW_FIXTURES or (parameters and "postgresql" in parameters.params.values()):
            item.add_marker("slow")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Turn a skip into a failure where SVC_NOTHING_SKIPPED is set; Citus is built only where its source is."""
    report = yield
    if report.skipped and "SVC_NOTHING_SKIPPED" in os.environ and NO_CITUS not in str(report.longrepr):
        report.outcome = "failed"
        report.longrepr = f"SVC_NOTHING_SKIPPED forbids a skip: {report.longrepr}"
    return report
