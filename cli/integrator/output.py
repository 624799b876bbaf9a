"""The output of all commands: colored text on a terminal, plain text in a pipe, one JSON object with --json."""

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape
from rich.text import Text

Json = Annotated[bool, typer.Option("--json", help="Print one JSON object on stdout.")]
REJECTED, UNREACHABLE, NOT_SET_UP = 1, 3, 4


class Failure(Exception):  # noqa: N818 - how a command ends, not a fault of ours
    """An error that ends a command: a code for scripts, what was wrong, and what to do."""

    def __init__(self, code: str, message: str, hint: str = "", *, exit_code: int = REJECTED, **details: Any) -> None:
        super().__init__(message)
        self.exit_code = exit_code
        self.error = {"code": code, "message": message, **({"hint": hint} if hint else {}), **details}


class Output:
    """A command's output; `result` prints the JSON object."""

    def __init__(self, *, as_json: bool) -> None:
        self.as_json = as_json
        self._words = Console(stderr=as_json, highlight=False, soft_wrap=True, emoji=False, quiet=as_json)

    @property
    def is_interactive(self) -> bool:
        """Whether a user is at the terminal to answer a question."""
        return sys.stdin.isatty() and sys.stdout.isatty() and not self.as_json

    def say(self, markup: str) -> None:
        """Print text; untrusted text in it must be escaped."""
        self._words.print(markup)

    def result(self, response: dict[str, Any]) -> None:
        """Print the command's result if --json was given."""
        if self.as_json:
            typer.echo(json.dumps(response, ensure_ascii=False, default=_in_json))


@contextmanager
def answering(*, as_json: bool) -> Iterator[Output]:
    """Give a command its output; a Failure is printed on stderr (with --json also as the object) and ends it."""
    output = Output(as_json=as_json)
    try:
        yield output
    except Failure as failure:
        if as_json:
            typer.echo(json.dumps({"error": failure.error}, ensure_ascii=False))
        warn(failure.error["message"], failure.error.get("hint", ""), label="[red]Error[/]")
        for field in failure.error.get("fields", ()):
            warn(str(field["message"]), label=escape(str(field["field"])))
        raise typer.Exit(failure.exit_code) from None


def warn(message: str, hint: str = "", *, label: str = "[yellow]Warning[/]") -> None:
    """Print a message on stderr."""
    stderr = Console(stderr=True, highlight=False, soft_wrap=True, emoji=False)
    first, *others = message.splitlines() or [""]
    stderr.print("\n".join([f"{label}: {plain(first)}", *map(plain, others)]))
    if hint:
        stderr.print(plain(hint))


def plain(text: object) -> str:
    """Return untrusted text without characters that color, move the cursor or hide text."""
    shown = "".join(character if character.isprintable() else " " for character in str(text))
    return escape(Text.from_ansi(shown).plain)


def _in_json(value: Any) -> str:
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    return str(value)
