"""The fields of a request's body as options of a command, checked by the same model."""

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import StrEnum
from types import NoneType
from typing import Annotated, Any, get_args, get_origin

import typer
from pydantic_core import to_json

from cli.integrator.output import Work
from web import body

Model = type[body.Body]


def taking(
    model: Model, query: Mapping[str, str] = {}, ids: Iterable[str] = (), *, without: str = ""
) -> Callable[[Work], Work]:
    """Return a decorator: a function's `**sent` are arguments for ids, and options for a query and a body's fields.

    `without` is a field that has no option.
    """

    def changed(work: Work) -> Work:
        signature = inspect.signature(work)
        *own, _ = signature.parameters.values()
        own += (_parameter(name, int, typer.Argument(min=1, metavar="ID")) for name in ids)
        own += (_parameter(name, str | None, typer.Option(help=says)) for name, says in query.items())
        own += (each for each in _options(model) if each.name != without)
        work.__signature__ = signature.replace(parameters=own)  # type: ignore[attr-defined]  # typer reads it
        return work

    return changed


def _options(model: Model) -> Iterator[inspect.Parameter]:
    """Yield an option for each field of a model: of a list, it can be repeated; of an object, colons separate it."""
    for name, field in model.model_fields.items():
        kind: Any = field.annotation
        item, metavar = _item(kind), None
        if item is not None:
            kind, metavar = list[str], ":".join(getattr(item, "model_fields", ["id"])).upper()
        elif not (isinstance(kind, type) and issubclass(kind, bool | StrEnum)):
            kind = str
        shown = typer.Option(help=field.description, metavar=metavar)
        yield _parameter(name, kind if field.is_required() else kind | None, shown)


def _parameter(name: str, kind: Any, shown: Any) -> inspect.Parameter:
    default = None if NoneType in get_args(kind) else inspect.Parameter.empty
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, annotation=Annotated[kind, shown], default=default)


def given(model: Model, sent: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options that were given, in the types of a model. Raises ValidationError."""
    values = {name: value for name, value in sent.items() if value not in (None, [])}
    for name, field in model.model_fields.items():
        parts = list(getattr(_item(field.annotation), "model_fields", ()))
        if parts and name in values:
            values[name] = [dict(zip(parts, each.split(":", len(parts) - 1), strict=False)) for each in values[name]]
    return body.parse(model, to_json(values), strict=False).model_dump(exclude_unset=True)


def _item(kind: Any) -> Any:
    """Return the type of what a list, or a list or nothing, consists of; None for any other type."""
    if get_origin(kind) in {list, tuple}:
        return get_args(kind)[0]
    return next(filter(None, map(_item, get_args(kind))), None)
