"""The machinery of the tests themselves: runs that do not disturb each other, and nothing skipped in CI."""

import os
import subprocess
import sys
from pathlib import Path

import asyncpg
import pytest

from tests.conftest import ROOT


async def test_postgresql_files_are_outside_the_folder_that_every_pytest_run_closes(postgres_server: str):
    connection = await asyncpg.connect(postgres_server.replace("+asyncpg", ""))
    folder = await connection.fetchval("SHOW data_directory")
    await connection.close()

    assert "/pytest-of-" not in folder


@pytest.mark.parametrize(("environment", "code"), [({}, 0), ({"SVC_NOTHING_SKIPPED": "1"}, 1)], ids=["here", "in CI"])
def test_a_skip_fails_where_nothing_may_be_skipped(environment: dict[str, str], code: int, tmp_path: Path):
    (tmp_path / "test_it.py").write_text("import pytest\n\n\ndef test_it():\n    pytest.skip('no server')\n")
    command = [sys.executable, "-m", "pytest", "-p", "tests.selection", "-c", os.devnull, "--rootdir", "."]
    kept = {name: value for name, value in os.environ.items() if name != "SVC_NOTHING_SKIPPED"}

    done = subprocess.run(
        command,
        cwd=tmp_path,
        env=kept | {"PYTHONPATH": str(ROOT), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"} | environment,
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == code, done.stdout
    assert "no server" in done.stdout or code == 0
