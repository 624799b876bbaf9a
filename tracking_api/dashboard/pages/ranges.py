"""The period picker: the days that a page shows, 30 by default."""

from typing import NamedTuple

from starlette.requests import Request

from storage.rules.period import DateRangeQuery, Period, Window

DEFAULT = DateRangeQuery(Period.THIRTY_DAYS)
NAMES = {
    Period.SEVEN_DAYS: "7 days",
    Period.THIRTY_DAYS: "30 days",
    Period.NINETY_DAYS: "90 days",
    Period.ALL: "All time",
}


class Picker(NamedTuple):
    """The picker's values: the chosen period (None: a custom range), and the days as typed or shown."""

    chosen: str | None
    date_from: str
    date_to: str
    names: dict[Period, str]


def requested(request: Request) -> DateRangeQuery:
    """Return the range in the query."""
    query = request.query_params
    return DateRangeQuery(query.get("period", Period.THIRTY_DAYS), query.get("dateFrom"), query.get("dateTo"))


def picker(request: Request, window: Window) -> Picker:
    """Return the picker beside a page that shows this window."""
    query = requested(request)
    custom = query.date_from is not None and query.date_to is not None
    date_from, date_to = (query.date_from, query.date_to) if custom else (window.first, window.last)
    return Picker(None if custom else query.period, str(date_from)[:10], str(date_to)[:10], NAMES)
