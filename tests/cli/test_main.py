"""The `svc` command: what it loads, its index, and its log of one line for each event, without secrets."""

import json
import logging
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from cli import logs
from cli.main import COMMANDS, load
from tests.cli.conftest import CHECKOUT, Svc
from web.current_request import current

SERVER = {"sqlalchemy", "alembic", "starlette", "uvicorn", "mcp", "stripe", "storage", "asgi", "background"}
SECRETS = {
    "Key (email)=(ada@acme.example) already exists": "Key (email)=([e-mail]) already exists",
    "postgresql+asyncpg://svc:hunter2@db/svc": "postgresql+asyncpg://[secret]@db/svc",
    "agt_0123456789abcdefghijklmno is wrong": "agt_[secret] is wrong",
    "Authorization: Bearer abc.def": "Authorization: Bearer [secret]",
    "request 01ab-2 of program 7 failed": "request 01ab-2 of program 7 failed",
}


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


@pytest.fixture
def in_a_request() -> Iterator[None]:
    token = current.set({"request_id": "r-1", "path_params": {"program_id": "7"}})
    yield
    current.reset(token)


def line(text: str, *, failed: bool = False) -> str:
    caught = (ValueError, ValueError(text), None) if failed else None
    record = logging.LogRecord("asgi", logging.ERROR, "asgi.py", 1, "%s", (text,), caught)
    return logs.formatter().format(record)


def test_secrets_and_e_mails_are_hidden():
    assert {text: logs.hidden(text) for text in SECRETS} == SECRETS


@pytest.mark.usefixtures("in_a_request")
def test_a_line_of_json_names_the_request_and_its_program(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("SVC_LOG_FORMAT", "json")

    logged = json.loads(line("ada@acme.example", failed=True))

    about = {"level": "error", "logger": "asgi", "request_id": "r-1", "program_id": "7", "event": "[e-mail]"}
    assert about.items() <= logged.items()
    assert "ValueError: [e-mail]" in logged["exception"]
    assert logged["timestamp"].endswith("Z")
