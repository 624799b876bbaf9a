"""Cursors: a page's edge as opaque text, so that the next page neither skips nor repeats a row; and spans of ids."""

import base64
import binascii
import json
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement

from storage.engine import ids
from storage.rules.errors import FieldError, ValidationError
from storage.rules.periods.period import Span

LARGEST_ID = 2**62
LONGEST_TEXT = 64


def within(id_column: ColumnElement[int], at: ColumnElement[datetime], span: Span) -> list[ColumnElement[bool]]:
    """Return the conditions for rows of a span; their time-ordered id finds the first: it is never below their time."""
    conditions: list[ColumnElement[bool]] = []
    if span.since is not None:
        conditions += [id_column >= ids.first(span.since), at >= span.since]
    if span.until is not None:
        conditions.append(at < span.until)
    return conditions


def decode(cursor: str, *kinds: type) -> list[Any]:
    """Return the values that a cursor names, as these types. Raises ValidationError for an invalid cursor."""
    try:
        values = json.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
    except (binascii.Error, ValueError, RecursionError):
        values = None
    known = isinstance(values, list) and [type(value) for value in values] == list(kinds)
    if not known or not all(_storable(value) for value in values):
        raise ValidationError(fields=[FieldError("cursor", "Not a cursor of this list: start again without one")])
    return values


def _storable(value: int | str) -> bool:
    if isinstance(value, int):
        return abs(value) <= LARGEST_ID
    return value.isascii() and value.isprintable() and len(value) <= LONGEST_TEXT


def encode(values: list[Any]) -> str:
    """Return the cursor that names these values."""
    return base64.urlsafe_b64encode(json.dumps(values).encode()).decode().rstrip("=")
