"""What a tool answers: a model with the moment and the query it shows, kept below 24 KB on the wire."""

import json
from collections.abc import Callable, Iterable
from datetime import datetime
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, JsonValue

from storage.engine import pagination
from storage.engine.pagination import Page

LARGEST = 23_000  # bytes of a whole answer: its text, escaped in JSON, and its structured content
Value = TypeVar("Value")


class Model(BaseModel):
    """A part of a result, read from storage's values by their names; what is None is left out."""

    model_config = ConfigDict(from_attributes=True, extra="ignore")


class Result(Model):
    """A result; `as_of` is the moment that it shows, `applied_query` what was asked, defaults included."""

    as_of: datetime
    applied_query: dict[str, JsonValue]


class Listed(Result):
    """A page of a list, newest first.

    `truncated`: the page was cut before `limit` rows to stay small; `next_cursor` goes on where it ends.
    """

    truncated: bool
    next_cursor: str | None


def json_of(model: BaseModel) -> Any:
    """Return a model as JSON values, without what is None; `next_cursor` is always said."""
    values = model.model_dump(mode="json", by_alias=True, exclude_none=True)
    return {**values, "next_cursor": None, **values} if isinstance(model, Listed) else values


def compact(values: Any) -> str:
    """Return JSON values as text without needless space."""
    return json.dumps(values, ensure_ascii=False, separators=(",", ":"))


def weight(values: Any) -> int:
    """Return how many bytes of an answer these values take: escaped in its text, and once more as they are."""
    text = json.dumps(values, separators=(",", ":"))
    return 2 * len(text) + text.count('"') + text.count("\\")


def fitting(rows: Iterable[BaseModel], budget: int = LARGEST - 2_000) -> int:
    """Return how many of the rows fit an answer."""
    count = used = 0
    for row in rows:
        used += weight(json_of(row))
        if used > budget:
            break
        count += 1
    return count


def _id(value: Any) -> list[Any]:
    return [value.id]


def page(
    found: Page[Value], shown: Callable[[Value], BaseModel], *, key: Callable[[Value], list[Any]] = _id
) -> dict[str, Any]:
    """Return a page of storage as `data`, `truncated` and `next_cursor`; `key` is what a cursor names of its last row.

    A page that is too long is cut, and the cursor says where: no row is skipped or repeated.
    """
    rows = [shown(value) for value in found.data]
    count = fitting(rows)
    if count == len(rows):
        return {"data": rows, "truncated": False, "next_cursor": found.next_cursor}
    return {"data": rows[:count], "truncated": True, "next_cursor": pagination.encode(key(found.data[count - 1]))}
