"""Which suite each test belongs to, by what it needs: `-m embedded` runs those that need Python alone.

A test belongs to the most demanding suite that its folder, its fixtures, its parameters or a mark of its own name.
What this machine cannot run is left out and named at the end; where SVC_EVERY_SUITE is set, as in CI, it fails the run.
With SVC_TEST_ON=citus the suite `citus` is every test that can use the cluster.
"""

import os
from collections.abc import Generator
from functools import cache
from pathlib import Path

import pytest

from tests import postgres
from tests.needs import CITUS, EMBEDDED, ON_CITUS, POSTGRESQL, ROOT, SUITES, TABLE, missing

FOLDERS, FIXTURES = TABLE["folders"], TABLE["fixtures"]
ON_SQLITE = set(TABLE["on_sqlite"]["folders"])
STORED = ("tests/storage/", "tests/distributed/", "tests/test_journeys.py")  # what runs on a cluster, too
PARAMETERS = {"postgresql": POSTGRESQL, "citus": CITUS}


def suite_of(item: pytest.Item) -> str:
    fixtures = set(getattr(item, "fixturenames", ()))
    marks = {mark.name for mark in item.iter_markers()}
    if ON_CITUS and "postgres_url" in fixtures and "not_on_citus" not in marks and item.nodeid.startswith(STORED):
        return CITUS
    parameters = map(str, item.callspec.params.values()) if hasattr(item, "callspec") else ()
    named = {FIXTURES[name] for name in FIXTURES.keys() & fixtures}
    named |= {PARAMETERS[value] for value in PARAMETERS.keys() & set(parameters)}
    return str(max({_of_folder(item.path), *named, *(marks & set(SUITES))}, key=SUITES.index))


def _of_folder(path: Path) -> str:
    return str(next((FOLDERS[folder] for folder in _folders(path) if folder in FOLDERS), EMBEDDED))


def _folders(path: Path) -> list[str]:
    """Return the folders that a file is in, from the innermost on."""
    return [parent.relative_to(ROOT).as_posix() for parent in path.parents if parent.is_relative_to(ROOT)]


@pytest.hookimpl(tryfirst=True)
def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run a test that could run on each database on SQLite alone, where its folder says so and no mark of its own."""
    test = metafunc.definition
    is_alone = test.get_closest_marker("both_databases") is None and not ON_SQLITE.isdisjoint(_folders(test.path))
    if is_alone and "database_url" in metafunc.fixturenames:
        test.add_marker(pytest.mark.parametrize("database_url", ["sqlite"], indirect=True))


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> Generator[None, None, None]:
    """Mark each test with its suite; of those that `-m` selects, leave out the ones that this machine cannot run."""
    suites = {item: suite_of(item) for item in items}
    for item, suite in suites.items():
        item.add_marker(suite)
    yield
    others = [item for item in items if suites[item] in _left_out(config)]
    config.hook.pytest_deselected(items=others)
    items[:] = [item for item in items if item not in others]


@cache
def _left_out(config: pytest.Config) -> dict[str, str]:
    """Return the suites that were asked for and cannot run here, each with what is missing."""
    asked = config.getoption("markexpr") or " ".join(SUITES)
    needs = {suite: [need.name for need in missing([suite])] for suite in SUITES if suite in asked}
    return {suite: ", ".join(names) for suite, names in needs.items() if names}


def pytest_configure(config: pytest.Config) -> None:
    """Declare the suites as marks; where every suite must run, end at once if one cannot. Keep files in memory."""
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(postgres.memory()))  # pytest's name for where tmp_path is
    for suite in SUITES:
        config.addinivalue_line("markers", f"{suite}: the suite of this test, where neither folder nor fixture says so")
    config.addinivalue_line("markers", "both_databases: runs on each database, also where its folder runs on SQLite")
    config.addinivalue_line("markers", "not_on_citus(reason): does not run on a Citus cluster")
    config.addinivalue_line("markers", "wrong_books: changes rows so that totals and events differ")
    if "SVC_EVERY_SUITE" in os.environ and _left_out(config):
        raise pytest.UsageError(f"SVC_EVERY_SUITE is set, and these suites lack something: {_left_out(config)}")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Name what was left out."""
    for suite, names in _left_out(config).items():
        terminalreporter.write_line(f"left out: {suite}, which needs {names} (.ci/install installs it)", yellow=True)


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """Let a run succeed whose only suites were left out."""
    if exitstatus == pytest.ExitCode.NO_TESTS_COLLECTED and _left_out(session.config):
        session.exitstatus = pytest.ExitCode.OK


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Turn a skip into a failure: what a machine may lack makes a suite of its own."""
    report = yield
    if report.skipped and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
        report.longrepr = f"a test may not be skipped: {report.longrepr}"
    return report
