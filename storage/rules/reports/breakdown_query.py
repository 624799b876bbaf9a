"""Reads what a breakdown is asked for: dimensions, metrics, filters, the order and the number of rows."""

import re
from collections.abc import Mapping, Sequence
from datetime import date

from storage.rules.errors import ValidationError, choose
from storage.rules.reports.breakdown import LABELS, OF_DAY, BreakdownQuery, Dimension, DimensionFilter, Metric, Operator

MOST_ROWS = 200
NONE = "(none)"  # in a filter: what lacks the dimension
_WHOLE = re.compile("[0-9]{1,6}", re.ASCII)
_NUMBERED = {
    Dimension.COHORT: re.compile("[0-9]{4}-(0[1-9]|1[0-2])", re.ASCII),
    Dimension.MONTHS_SINCE: _WHOLE,
    Dimension.TERMS_VERSION: _WHOLE,
}


def query(
    by: str | None,
    second: str | None = None,
    *,
    filters: Mapping[str, str] | None = None,
    shown: Sequence[str] = (),  # the names of the metrics; none: all
    sort: str | None = None,  # the metric of which rows with most come first; the first one by default
    limit: str | int = 25,
) -> BreakdownQuery:
    """Return a checked query. Raises ValidationError, naming each parameter by its name in the agent API."""
    first = choose("by", by or "", Dimension)
    dimensions = (first,) if second is None else (first, choose("second", second, Dimension))
    if len(set(dimensions)) < len(dimensions):
        raise ValidationError.of("second", "Another dimension than by")
    chosen = tuple(dict.fromkeys(choose("metrics", each, Metric) for each in shown)) or tuple(Metric)
    by_metric = chosen[0] if sort is None else choose("sort", sort, Metric)
    for name in filters or {}:
        choose("filter", name, Dimension)
    text = str(limit)
    if not (text.isascii() and text.isdigit() and len(text) <= len(str(MOST_ROWS)) and 1 <= int(text) <= MOST_ROWS):
        raise ValidationError.of("limit", f"An integer from 1 to {MOST_ROWS}")
    return BreakdownQuery(dimensions, stored_filters(filters or {}), chosen, by_metric, int(text))


def stored_filters(sent: Mapping[str, str]) -> list[DimensionFilter]:
    """Return filters such as `country`, `country.not` and `country.contains`, as stored. Raises ValidationError."""
    filters = []
    for name, text in sent.items():
        named, _, operator = name.partition(".")
        dimension = choose("filter", named, Dimension)
        how = choose("filter", operator or Operator.IS, Operator)
        if how == Operator.CONTAINS and dimension in {*_NUMBERED, Dimension.DAY, Dimension.WEEK}:
            raise ValidationError.of(dimension, "Choose is or is not")
        value = text if how == Operator.CONTAINS else _stored(dimension, text)
        filters.append(DimensionFilter(dimension, how, value))
    return filters


def _stored(dimension: Dimension, text: str) -> str | int | None:
    if dimension in LABELS:
        if text not in LABELS[dimension]:
            raise ValidationError.of(dimension, f"One of {', '.join(LABELS[dimension])}")
        return LABELS[dimension].index(text)
    if dimension in OF_DAY:
        try:
            number: int = OF_DAY[dimension]((date.fromisoformat(text) - date(1970, 1, 1)).days)
        except ValueError:
            raise ValidationError.of(dimension, "A day such as 2026-01-31") from None
        return number
    if text == NONE or dimension not in _NUMBERED:
        return None if text == NONE else text
    if not _NUMBERED[dimension].fullmatch(text):
        wrong = "A month such as 2026-01" if dimension == Dimension.COHORT else "A whole number"
        raise ValidationError.of(dimension, wrong)
    year, _, month = text.partition("-")
    return int(year) * 12 + int(month) - 1 if dimension == Dimension.COHORT else int(text)
