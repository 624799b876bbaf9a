"""What a URL says of a page: its filters, and the date picker's days with those it compares them with."""

import tomllib
from datetime import datetime
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlencode

from starlette.requests import Request

from storage.rules.errors import InvalidPeriod, InvalidRange, ServiceError
from storage.rules.periods import picked_period
from storage.rules.periods.period import DateRangeQuery, Period, Window
from tracking_api.dashboard.pages import text

_MENU = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
NAMES = {Period(period): title for period, title in _MENU["periods"].items()}
COMPARISONS: dict[str, str] = _MENU["comparisons"]
DATES = ("dateFrom", "dateTo")


class FilterValues(dict[str, str]):
    """The chosen filters, for the form and for links; a filter that is not set is empty."""

    def __missing__(self, name: str) -> str:
        return ""

    def link(self, **others: str | None) -> str:
        """Return a query string with these filters and others; None removes one."""
        chosen = {name: value for name, value in (self | others).items() if value}
        return f"?{urlencode(chosen)}" if chosen else "?"

    def without(self, *names: str) -> "FilterValues":
        """Return these filters without some."""
        return FilterValues({name: value for name, value in self.items() if name not in names})


class Picker(NamedTuple):
    """A picked range (the last 30 days with a `problem`), and what shows it: a period (None: two dates), a comparison.

    `address` is the query string, which every link keeps, and `rest` the same without the range.
    """

    picked: DateRangeQuery
    problem: ServiceError | None
    chosen: str | None
    date_from: str
    date_to: str
    comparison: str
    address: FilterValues
    names: dict[Period, str] = NAMES
    comparisons: dict[str, str] = COMPARISONS

    @property
    def window(self) -> Window | None:
        return self.picked.window

    @property
    def title(self) -> str:
        """The period's name, or its days."""
        days = f"{text.day(self.window.first)} to {text.day(self.window.last)}" if self.window else "Choose days"
        return self.names[Period(self.chosen)] if self.chosen in self.names else days

    @property
    def is_compared(self) -> bool:
        return self.picked.before is not None

    @property
    def rest(self) -> FilterValues:
        return self.address.without("period", *DATES)


def picker(request: Request, at: datetime, *, default: Period = Period.THIRTY_DAYS, is_valid: bool = False) -> Picker:
    """Return the range in the query. Raises InvalidPeriod, InvalidRange if it has to be valid."""
    sent, problem = request.query_params, None
    date_from, date_to = (sent.get(name) or None for name in DATES)
    query = DateRangeQuery(sent.get("period") or default, date_from, date_to)
    comparison = sent.get("compare") or picked_period.Comparison.PREVIOUS
    try:
        picked = picked_period.pick(query, at=at, comparison=comparison)
    except (InvalidPeriod, InvalidRange) as rejection:
        if is_valid:
            raise
        problem = rejection
        picked = picked_period.pick(DateRangeQuery(Period.THIRTY_DAYS), at=at)
    is_custom = query.date_from is not None and query.date_to is not None
    first, last = (query.date_from, query.date_to) if is_custom else picked.window or ("", "")
    return Picker(
        picked,
        problem,
        chosen=None if is_custom else query.period,
        date_from=str(first)[:10],
        date_to=str(last)[:10],
        comparison=comparison if comparison in COMPARISONS else picked_period.Comparison.PREVIOUS,
        address=FilterValues({name: value for name, value in sent.items() if value and name != "cursor"}),
    )
