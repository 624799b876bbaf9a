"""The machinery of the tests themselves: suites left out by name, no skip, and runs that do not disturb each other."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.needs import POSTGRESQL, ROOT

TESTS = """import pytest
def test_plain(): pass
@pytest.mark.postgresql
def test_on_a_server(): pass
"""


def run(folder: Path, *arguments: str, tests: str = TESTS, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run tests on a machine that has no program but Python."""
    (folder / "test_it.py").write_text(tests)
    command = [sys.executable, "-m", "pytest", "-p", "tests.suites", "-c", os.devnull, "--rootdir", ".", *arguments]
    bare = {"PATH": "", "PYTHONPATH": str(ROOT), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"} | environment
    return subprocess.run(command, cwd=folder, env=bare, capture_output=True, text=True, check=False)


def test_a_suite_that_the_machine_cannot_run_is_left_out_by_name(tmp_path: Path):
    everything, suite = run(tmp_path), run(tmp_path, "-m", POSTGRESQL)

    assert (everything.returncode, suite.returncode) == (0, 0)
    assert "1 passed, 1 deselected" in everything.stdout
    assert all("left out: postgresql, which needs " in done.stdout for done in (everything, suite))


def test_a_suite_that_the_machine_cannot_run_fails_where_every_suite_must_run(tmp_path: Path):
    done = run(tmp_path, "-m", POSTGRESQL, SVC_EVERY_SUITE="1")

    assert done.returncode == pytest.ExitCode.USAGE_ERROR
    assert "redis-server" in done.stderr


def test_a_skip_is_a_failure(tmp_path: Path):
    done = run(tmp_path, tests="import pytest\n\n\ndef test_it():\n    pytest.skip('no server')\n")

    assert done.returncode == pytest.ExitCode.TESTS_FAILED
    assert "a test may not be skipped" in done.stdout
