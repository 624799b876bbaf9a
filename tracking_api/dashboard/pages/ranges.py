"""The date picker: the days that a page shows, and those it compares them with. Its state is in the URL."""

from datetime import datetime
from typing import NamedTuple

from starlette.requests import Request

from storage.rules.errors import InvalidPeriod
from storage.rules.periods import picked_period
from storage.rules.periods.period import ALWAYS, DateRangeQuery, Span, Window
from storage.rules.periods.picked_period import Comparison, Picked, PickedPeriod
from tracking_api.dashboard.pages.filters import FilterValues

NAMES = {
    PickedPeriod.TODAY: "Today",
    PickedPeriod.YESTERDAY: "Yesterday",
    PickedPeriod.SEVEN_DAYS: "Last 7 days",
    PickedPeriod.THIRTY_DAYS: "Last 30 days",
    PickedPeriod.NINETY_DAYS: "Last 90 days",
    PickedPeriod.THIS_MONTH: "This month",
    PickedPeriod.LAST_MONTH: "Last month",
    PickedPeriod.THIS_QUARTER: "This quarter",
    PickedPeriod.YEAR_TO_DATE: "Year to date",
    PickedPeriod.ALL: "All time",
}
COMPARISONS: dict[str, str] = {
    Comparison.PREVIOUS: "Previous period",
    Comparison.LAST_YEAR: "Same period last year",
    Comparison.NONE: "Nothing",
}
DATES = ("dateFrom", "dateTo")


class Picker(NamedTuple):
    """What the picker shows: the period (None: two dates), the days as typed or meant, and what they compare with.

    `address` is the page's query string without its page of rows: every link and form of the picker keeps the rest.
    """

    chosen: str | None
    date_from: str
    date_to: str
    window: Window | None
    comparison: str
    is_compared: bool
    address: FilterValues
    names: dict[PickedPeriod, str] = NAMES
    comparisons: dict[str, str] = COMPARISONS

    @property
    def rest(self) -> FilterValues:
        """The address without the range."""
        return self.address.without("period", *DATES)


def requested(request: Request, at: datetime, *, default: PickedPeriod = PickedPeriod.THIRTY_DAYS) -> Picked:
    """Return the range in the query. Raises InvalidPeriod, InvalidRange."""
    sent = request.query_params.get("compare") or Comparison.PREVIOUS
    if sent not in set(Comparison):
        raise InvalidPeriod(f"Compare with one of {', '.join(Comparison)}.")
    return picked_period.pick(_query(request, default), at=at, comparison=Comparison(sent))


def usual(at: datetime) -> Picked:
    """Return the range of a page without a valid one in its query: the last 30 days."""
    return picked_period.pick(DateRangeQuery(PickedPeriod.THIRTY_DAYS), at=at)


def span(request: Request, at: datetime) -> Span:
    """Return the timestamps of the range in the query of a list, by default all. Raises InvalidPeriod, InvalidRange."""
    window = requested(request, at, default=PickedPeriod.ALL).window
    return window.span if window else ALWAYS


def picker(request: Request, picked: Picked, *, default: PickedPeriod = PickedPeriod.THIRTY_DAYS) -> Picker:
    """Return the picker beside a page that shows this range; an invalid one stays in it as it was typed."""
    query, window = _query(request, default), picked.window
    sent = request.query_params.get("compare", "")
    is_custom = query.date_from is not None and query.date_to is not None
    first, last = (query.date_from, query.date_to) if is_custom else window or ("", "")
    return Picker(
        chosen=None if is_custom else query.period,
        date_from=str(first)[:10],
        date_to=str(last)[:10],
        window=window,
        comparison=sent if sent in COMPARISONS else Comparison.PREVIOUS,
        is_compared=picked.before is not None,
        address=FilterValues(
            {name: value for name, value in request.query_params.items() if value and name != "cursor"}
        ),
    )


def _query(request: Request, default: PickedPeriod) -> DateRangeQuery:
    sent = request.query_params
    return DateRangeQuery(sent.get("period") or default, *(sent.get(name) or None for name in DATES))
