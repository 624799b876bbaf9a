"""`svc admin program-key`."""

from datetime import datetime
from typing import Annotated

import typer
from sqlalchemy import Connection

from cli.admin import command, options
from storage.access import program_keys
from storage.access.program_keys import NewKey
from storage.engine.audit import OPERATOR
from storage.rules import rotation

app = typer.Typer(no_args_is_help=True)


@app.command()
def generate(
    program: options.ProgramId,
    as_json: options.Json = False,
) -> None:
    """Replace a program's key and show the new one once; the old key stops at once.

    Example:
      svc admin program-key generate --program 1 --json

    """
    with command.answering(as_json=as_json) as response:
        new = command.write(_generate, program, at=command.now())
        text = f"{new.secret}\nThis is the key of program {program}. It is not shown again."
        response({"api_token": new.secret, "api_token_masked": new.masked}, text)


@app.command("import")
def import_key(
    program: options.ProgramId,
    key_stdin: Annotated[bool, typer.Option("--key-stdin", help="Read the key from standard input.")] = False,
    as_json: options.Json = False,
) -> None:
    """Import a program's older key, without the aff_ prefix, so that its integrations continue to work.

    Example:
      svc admin program-key import --program 1 --key-stdin < old-key.txt

    """
    with command.answering(as_json=as_json) as response:
        secret = options.secret(asked=key_stdin, option="--key-stdin", prompt="key")
        new = command.write(_import, program, secret, at=command.now())
        text = f"Program {program} now uses the key {new.masked}."
        response({"program_id": program, "api_token_masked": new.masked}, text)


@app.command()
def flag(
    program: options.ProgramId,
    deadline: Annotated[
        datetime,
        typer.Option(
            parser=options.timestamp, metavar="TIME", help="ISO 8601 with a time zone; a date means 00:00 UTC."
        ),
    ],
    as_json: options.Json = False,
) -> None:
    """Flag a program's key for rotation; it stops working at the deadline.

    Until then every response has a warning. A deadline in the past ends the key now.

    Example:
      svc admin program-key flag --program 1 --deadline 2027-01-31

    """
    with command.answering(as_json=as_json) as response:
        at = command.now()
        command.write(_flag, program, rotate_by=deadline, at=at)
        state = rotation.state(deadline, at)
        result = {"program_id": program, "flagged_at": at, "rotate_by": deadline, "state": state}
        response(result, f"The key of program {program} is {state}; it must be rotated by {deadline.isoformat()}.")


def _generate(connection: Connection, program_id: int, *, at: datetime) -> NewKey:
    command.require_program(connection, program_id)
    return program_keys.regenerate(connection, program_id, at=at, actor=OPERATOR)


def _import(connection: Connection, program_id: int, secret: str, *, at: datetime) -> NewKey:
    command.require_program(connection, program_id)
    return program_keys.import_key(connection, program_id, secret, at=at, actor=OPERATOR)


def _flag(connection: Connection, program_id: int, *, rotate_by: datetime, at: datetime) -> None:
    command.require_program(connection, program_id)
    program_keys.flag(connection, program_id, rotate_by=rotate_by, at=at, actor=OPERATOR)
