"""The frame of every command: colored text on a terminal, plain text in a pipe, one JSON object with --json."""

import inspect
import json
import sys
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from copy import copy
from datetime import UTC, datetime
from functools import cache, wraps
from pathlib import Path
from textwrap import indent
from typing import Annotated, Any, NamedTuple, get_args, get_origin

import typer
from jinja2 import Environment, FileSystemLoader, StrictUndefined, select_autoescape
from rich.console import Console, RenderableType
from rich.markup import escape
from rich.text import Text

Flag = Annotated[bool, typer.Option()]  # without an opposite
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object on stdout.")]
REJECTED, UNREACHABLE, NOT_SET_UP = 1, 3, 4
_AS_JSON = inspect.Parameter("as_json", inspect.Parameter.KEYWORD_ONLY, default=False, annotation=Json)
_JSON = ContextVar("json", default=False)


class Failure(Exception):  # noqa: N818 - how a command ends, not a fault of ours
    """An error that ends a command: a code for scripts, what was wrong, and what to do."""

    def __init__(self, code: str, message: str, hint: str = "", *, exit_code: int = REJECTED, **details: Any) -> None:
        super().__init__(message)
        self.exit_code = exit_code
        self.error = {"code": code, "message": message, **({"hint": hint} if hint else {}), **details}


class Answer(NamedTuple):
    result: Mapping[str, Any]  # of --json
    text: str = ""  # for people
    ok: bool = True  # whether the exit code is 0


Work = Callable[..., Answer | dict[str, Any] | None]


def command(
    app: typer.Typer | None = None,
    name: str | None = None,
    *,
    guard: Callable[[], AbstractContextManager[None]] = nullcontext,
) -> Callable[[Work], Callable[..., None]]:
    """Make a function a command, of a group if there is one: it takes --json, too, and what it returns is printed."""

    def made(work: Work) -> Callable[..., None]:
        texts = _texts(work)

        @wraps(work)
        def run(*arguments: Any, as_json: bool = False, **options: Any) -> None:
            with answering(as_json=as_json), guard():
                answer = work(*arguments, **options)
                if isinstance(answer, dict):  # people read what help.toml says of it
                    named = {name: plain(value) for name, value in {**options, **answer}.items()}
                    answer = Answer(answer, texts["says"].format_map(named))
                if answer is not None:
                    if answer.text:
                        say(answer.text)
                    print_json(answer.result)
            if answer is not None and not answer.ok:
                raise typer.Exit(REJECTED)

        signature = inspect.signature(work)
        described = (_described(each, texts["options"].get(each.name)) for each in signature.parameters.values())
        parameters = [*described, _AS_JSON]
        run.__doc__ = help_of(work)
        run.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]  # typer reads it
        if app is not None:
            app.command(name)(run)
        return run

    return made


def _texts(work: Work) -> dict[str, Any]:
    """Return what `help.toml` beside a command's module says of it."""
    module = Path(inspect.getfile(work))
    further = _read(module.with_name("help.toml")).get(module.stem, {}).get(work.__name__, {})
    return {"details": "", "example": "", "says": "", "options": {}} | further


@cache
def _read(path: Path) -> dict[str, Any]:
    return tomllib.loads(path.read_text(encoding="utf-8"))


def help_of(work: Work) -> str:
    """Return a command's help: its docstring, and the details and the example of `help.toml`."""
    texts = _texts(work)
    example = texts["example"]
    shown = f"Example:\n{indent(example, '  ')}" if "\n" in example else f"Example: {example}"
    return "\n\n".join(filter(None, (inspect.cleandoc(work.__doc__ or ""), texts["details"], example and shown)))


def _described(parameter: inspect.Parameter, text: str | None) -> inspect.Parameter:
    if text is None:
        return parameter
    kind, option = parameter.annotation, typer.Option()
    if get_origin(kind) is Annotated:
        kind, option = get_args(kind)
    option = copy(option)
    option.help = text
    if parameter.annotation is Flag:
        option.param_decls = (f"--{parameter.name.replace('_', '-')}",)
    return parameter.replace(annotation=Annotated[kind, option])


@contextmanager
def answering(*, as_json: bool) -> Iterator[None]:
    """End a command with a Failure, which is printed on stderr, and with --json also as the object."""
    before = _JSON.set(as_json)
    try:
        yield
    except Failure as failure:
        print_json({"error": failure.error})
        warn(failure.error["message"], failure.error.get("hint", ""), label="[red]Error[/]")
        for field in failure.error.get("fields", ()):
            warn(str(field["message"]), label=escape(str(field["field"])))
        raise typer.Exit(failure.exit_code) from None
    finally:
        _JSON.reset(before)


def is_json() -> bool:
    """Whether --json was given, so that stdout has the object alone."""
    return _JSON.get()


def is_interactive() -> bool:
    """Whether a user is at the terminal to answer a question."""
    return sys.stdin.isatty() and sys.stdout.isatty() and not is_json()


def say(text: RenderableType, *, soft_wrap: bool = True) -> None:
    """Print a text unless --json was given; untrusted text in its markup must be escaped."""
    if not is_json():
        Console(highlight=False, soft_wrap=soft_wrap, emoji=False).print(text)


def print_json(result: Mapping[str, Any]) -> None:
    """Print an object on a line of its own if --json was given."""
    if is_json():
        typer.echo(json.dumps(result, ensure_ascii=False, default=_in_json))


def written(name: str, /, **values: Any) -> str:
    """Return what people read of a result, as the template of this name has it, in which all values are `plain`."""
    return texts.get_template(f"{name}.txt").render(values).strip("\n")


def warn(message: str, hint: str = "", *, label: str = "[yellow]Warning[/]") -> None:
    """Print a message on stderr."""
    stderr = Console(stderr=True, highlight=False, soft_wrap=True, emoji=False)
    first, *others = message.splitlines() or [""]
    stderr.print("\n".join([f"{label}: {plain(first)}", *map(plain, others), *([plain(hint)] if hint else [])]))


def plain(text: object) -> str:
    """Return untrusted text without characters that color, move the cursor or hide text."""
    shown = "".join(character if character.isprintable() else " " for character in str(text))
    return escape(Text.from_ansi(shown).plain)


texts = Environment(
    loader=FileSystemLoader(Path(__file__).parents[1]),
    autoescape=select_autoescape(["html"]),  # a terminal shows none; every value is plain text
    finalize=plain,
    undefined=StrictUndefined,
    trim_blocks=True,
)


def described(rows: Iterable[Mapping[str, Any]]) -> str:
    """Return rows for people: a line for each value that there is, and an empty line between two rows."""
    kept = ({name: value for name, value in row.items() if value not in (None, {})} for row in rows)
    return "\n\n".join("\n".join(f"{name}: {plain(value)}" for name, value in row.items()) for row in kept)


def _in_json(value: Any) -> str:
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    return str(value)
