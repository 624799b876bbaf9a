"""The `svc` command: its index, and its log of one line for each event, without secrets."""

import json
import logging
from collections.abc import Iterator
from typing import Any

import pytest
import typer

from cli import logs
from cli.main import OF_OPERATORS, app, load
from tests.cli.conftest import Svc
from tests.tables import table
from web.build import VERSION
from web.middleware import current_request

SECRETS = table("cli/cases.toml")["secrets"]


def test_the_index_has_the_first_line_of_each_commands_help(svc: Svc):
    unknown, version = svc("stats"), svc("--version")

    assert [name for name, (_, first) in OF_OPERATORS.items() if load(name).help.splitlines()[0] != first] == []
    assert (unknown.code, "No such command 'stats'" in unknown.stderr) == (2, True)
    assert version.stdout.strip() == VERSION


def commands(name: str, found: Any) -> Iterator[tuple[str, Any]]:
    """Yield the commands below a group, with their whole names."""
    if hasattr(found, "commands"):
        for each, below in found.commands.items():
            yield from commands(f"{name} {each}", below)
    else:
        yield name, found


def test_the_help_of_each_command_has_an_example_that_calls_it():
    groups = {"svc": typer.main.get_command(app), **{f"svc {name}": load(name) for name in OF_OPERATORS}}

    for name, found in (each for group in groups.items() for each in commands(*group)):
        assert f"{name} " in f"{' '.join(found.help.split())} ".partition("Example:")[2], name


def test_secrets_and_e_mails_are_hidden():
    assert {text: logs.hidden(text) for text in SECRETS} == SECRETS


def test_a_line_of_json_names_the_request_and_its_program(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("SVC_LOG_FORMAT", "json")
    caught = (ValueError, ValueError("ada@acme.example"), None)
    record = logging.LogRecord("asgi", logging.ERROR, "asgi.py", 1, "%s", ("ada@acme.example",), caught)
    token = current_request.set({"request_id": "r-1", "path_params": {"program_id": "7"}})

    logged = json.loads(logs.formatter().format(record))

    current_request.reset(token)
    about = {"level": "error", "logger": "asgi", "request_id": "r-1", "program_id": "7", "event": "[e-mail]"}
    assert about.items() <= logged.items()
    assert "ValueError: [e-mail]" in logged["exception"]
    assert logged["timestamp"].endswith("Z")
