"""A tool's result: a model, sent as structured content and as compact text (below 24 KB) that says the same."""

import json
from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping
from collections.abc import Set as AbstractSet
from datetime import datetime
from functools import cache
from types import UnionType
from typing import Annotated, Any, Generic, TypeVar, Union, get_args, get_origin, get_type_hints

from pydantic import BaseModel, ConfigDict, create_model
from pydantic_core import to_jsonable_python

from mcp_server.sanitize import Untrusted, UntrustedValues
from presentation.lists import totals_of
from presentation.view import TotalsView
from storage.engine import cursors
from storage.lists.declaration import Page
from storage.rules import untrusted

LARGEST = 24_000  # bytes of the text that a model reads; the structured content is the same
BUDGET = LARGEST - 2_000  # of them for rows
Model = TypeVar("Model", bound=BaseModel)
Row = TypeVar("Row", bound=BaseModel)


class Result(BaseModel):
    """A result or a part of one, made from storage's values by name, without None."""

    model_config = ConfigDict(from_attributes=True, extra="ignore")


@cache
def model_of(row: Any) -> type[Result]:
    """Return the model of a row's type: its fields, with the same of the rows in them, and untrusted text cleaned."""
    if not _is_row(row):
        model: type[Result] = row
        return model
    return create_model(row.__name__, __base__=Result, **_fields(row))


def fields_of(row: Any, *, leave_out: AbstractSet[str] = frozenset()) -> Callable[[type[Model]], type[Model]]:
    """Return a decorator that gives a model the fields of a row's type, besides those that it has itself."""

    def add(model: type[Model]) -> type[Model]:
        known = leave_out | model.model_fields.keys()
        fields: dict[str, Any] = {name: field for name, field in _fields(row).items() if name not in known}
        return create_model(model.__name__, __base__=model, __module__=model.__module__, **fields)

    return add


def _fields(row: Any) -> dict[str, Any]:
    hints = get_type_hints(row, include_extras=True).items()
    return {name: (_modelled(hint), None if _is_optional(hint) else ...) for name, hint in hints}


def _is_optional(hint: Any) -> bool:
    inside = get_args(hint)
    return _is_optional(inside[0]) if get_origin(hint) is Annotated else type(None) in inside


def _modelled(hint: Any) -> Any:
    if get_origin(hint) is Annotated:
        kind, *marks = get_args(hint)
        if untrusted.UNTRUSTED in marks:
            return Untrusted if kind is str else UntrustedValues
        return _modelled(kind)
    if not (inside := get_args(hint)):
        return model_of(hint) if _is_row(hint) else hint
    kinds, origin = tuple(map(_modelled, inside)), get_origin(hint)
    return Union[kinds] if origin is UnionType else origin[kinds]  # noqa: UP007 - made at run time


def _is_row(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, tuple) and hasattr(kind, "_fields")


class RowPage(Result, Generic[Row]):
    """A page of a list, newest first.

    `truncated`: the page was cut before `limit` rows to stay small; `next_cursor` continues where it ends. `currency`
    is that of rows without one of their own.
    """

    truncated: bool
    next_cursor: str | None
    data: list[Row]
    totals: TotalsView | None = None
    currency: str | None = None


def values(result: Result, as_of: datetime, applied_query: Mapping[str, Any]) -> dict[str, Any]:
    """Return a result as JSON values, with its time and its query."""
    return {"as_of": to_jsonable_python(as_of), "applied_query": applied_query, **json_of(result)}


def json_of(model: BaseModel) -> dict[str, Any]:
    """Return a model as JSON values, without None; a page always has its `next_cursor`."""
    values = model.model_dump(mode="json", by_alias=True, exclude_none=True)
    return {**values, "next_cursor": model.next_cursor} if isinstance(model, RowPage) else values


def json_of_row(row: Any) -> dict[str, Any]:
    """Return a row of storage as JSON values, without None and with untrusted text cleaned."""
    kind: Any = type(row)
    return json_of(model_of(kind).model_validate(row))


def compact(values: Any) -> str:
    """Return JSON values as text without needless space."""
    return json.dumps(values, ensure_ascii=False, separators=(",", ":"))


def weight(values: Any) -> int:
    """Return how many bytes these values take in a result's text, with the comma after them."""
    return len(compact(values).encode()) + 1


def text_of(values: Mapping[str, Any]) -> str:
    """Return JSON values as the text that a model reads: long lists of rows become tables."""
    return compact({name: _shown(each) for name, each in values.items()})


def table(rows: list[dict[str, Any]]) -> Any:
    """Return rows as `columns` and `rows` under what is the `same` in all of them, or as they are if that is shorter.

    `a.b` is the field b of the object a; null stands for a field that a row does not have.
    """
    flat = [_flat(row) for row in rows]
    names = list(dict.fromkeys(name for row in flat for name in row))
    same = {name: flat[0][name] for name in names if all(name in row and row[name] == flat[0][name] for row in flat)}
    columns = [name for name in names if name not in same]
    short = {"same": same, "columns": columns, "rows": [[row.get(name) for name in columns] for row in flat]}
    has_null = any(None in row.values() for row in flat)  # it means something else than a field that is not there
    return rows if has_null else min(rows, short, key=weight)


def fitting(rows: Iterable[BaseModel], budget: int = BUDGET) -> int:
    """Return how many of the rows fit a result."""
    values = [json_of(row) for row in rows]
    return bisect_right(range(1, len(values) + 1), budget, key=lambda count: weight(_shown(values[:count])))


def _shown(value: Any) -> Any:
    return table(value) if _is_list(value) else value


def _is_list(value: Any) -> bool:
    return isinstance(value, list) and len(value) > 1 and all(isinstance(each, dict) for each in value)


def _flat(row: Mapping[str, Any]) -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for name, value in row.items():
        parts = value if isinstance(value, dict) else {}
        flat |= {f"{name}.{part}": each for part, each in parts.items()} if parts else {name: value}
    return flat


def page(
    stored: Page[Any],
    rows: list[Row],
    *,
    key: Callable[[Any], list[Any]] = lambda row: [row.id],
    budget: int = BUDGET,
    currency: str | None = None,
) -> RowPage[Row]:
    """Return a page of storage as a result with these rows; `key` returns the cursor values of a stored row.

    A page that is too long is cut, and the cursor says where: no row is skipped or repeated.
    """
    count, cursor = fitting(rows, budget), stored.next_cursor
    if count < len(rows):
        cursor = cursors.encode([0, *key(stored.data[count - 1])])
    return RowPage(
        data=rows[:count],
        truncated=count < len(rows),
        next_cursor=cursor,
        totals=totals_of(stored),
        currency=currency,
    )
