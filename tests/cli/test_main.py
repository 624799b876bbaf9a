"""The `svc` command's index: a command that only prints or only calls the service does not load the server."""

import subprocess
import sys
from pathlib import Path

from cli.main import COMMANDS, load
from tests.cli.conftest import CHECKOUT, Svc

SERVER = {"sqlalchemy", "alembic", "starlette", "uvicorn", "mcp", "stripe", "storage", "asgi", "background"}


def test_a_command_that_needs_no_server_imports_none(tmp_path: Path):
    for arguments in (["--help"], ["status", "--help"], ["status"], ["test", "sale", "--help"]):
        done = subprocess.run(
            [sys.executable, "-X", "importtime", "-m", "cli", *arguments],
            env={"PYTHONPATH": str(CHECKOUT)},
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )

        imported = {line.rpartition("|")[2].strip().partition(".")[0] for line in done.stderr.splitlines()}
        assert "typer" in imported
        assert imported & SERVER == set(), arguments


def test_the_index_has_the_first_line_of_each_commands_help(svc: Svc):
    unknown = svc("stats")

    assert [name for name, (_, first) in COMMANDS.items() if load(name).help.splitlines()[0] != first] == []
    assert (unknown.code, "No such command 'stats'" in unknown.stderr) == (2, True)
