"""The `svc` command's index: a command that only prints or only calls the service does not load the server."""

import subprocess
import sys
from pathlib import Path

import pytest

from cli.main import COMMANDS, load
from tests.cli.conftest import Svc

SERVER = {"sqlalchemy", "alembic", "starlette", "uvicorn", "mcp", "stripe", "storage", "asgi", "background"}


@pytest.mark.parametrize(
    "arguments", [["--help"], ["status", "--help"], ["status"], ["test", "sale", "--help"]], ids=" ".join
)
def test_a_command_that_needs_no_server_imports_none(arguments: list[str], tmp_path: Path):
    command = [sys.executable, "-X", "importtime", "-m", "cli", *arguments]

    done = subprocess.run(
        command,
        env={"PYTHONPATH": str(Path(__file__).parents[2])},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )

    imported = {line.rpartition("|")[2].strip().partition(".")[0] for line in done.stderr.splitlines()}
    assert "typer" in imported
    assert imported & SERVER == set()


@pytest.mark.parametrize("name", COMMANDS)
def test_the_index_has_the_first_line_of_each_commands_help(name: str):
    assert load(name).help.splitlines()[0] == COMMANDS[name][1]


def test_a_command_that_does_not_exist_is_an_error_that_names_it(svc: Svc):
    done = svc("stats")

    assert (done.code, "No such command 'stats'" in done.stderr) == (2, True)
