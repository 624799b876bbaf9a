"""Breakdowns: the dimensions and metrics that a report can be grouped by, and a query that was checked."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date, timedelta
from enum import StrEnum
from typing import Any, NamedTuple

from storage.rules.reports import metrics

WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


class Dimension(StrEnum):
    """What a report can be grouped by. Hours, days and weeks (by their Monday) are those of the event, in UTC.

    Those of buyers belong to sales and customers: clicks lack them, and leads lack products.
    """

    PARTNER = "partner"
    REFERRER = "referrer"
    LANDING_PATH = "landing_path"
    UTM_SOURCE = "utm_source"
    UTM_MEDIUM = "utm_medium"
    UTM_CAMPAIGN = "utm_campaign"
    UTM_TERM = "utm_term"
    UTM_CONTENT = "utm_content"
    CAMPAIGN = "campaign"
    DEVICE = "device"
    BROWSER = "browser"
    OS = "os"
    COUNTRY = "country"
    REGION = "region"
    LANGUAGE = "language"
    HOUR = "hour"
    WEEKDAY = "weekday"
    DAY = "day"
    WEEK = "week"
    PRODUCT = "product"
    TERMS_VERSION = "terms_version"
    BUYER = "buyer"
    COHORT = "cohort"
    MONTHS_SINCE = "months_since"


# What a day is in, by its number since 1970-01-01, a Thursday; a number or a column.
OF_DAY: Mapping[Dimension, Callable[[Any], Any]] = {
    Dimension.WEEKDAY: lambda day: (day + 3) % 7,
    Dimension.DAY: lambda day: day,
    Dimension.WEEK: lambda day: (day + 3) // 7,
}
EPOCH = date(1970, 1, 1)


class Operator(StrEnum):
    """How a filter compares."""

    IS = "is"
    IS_NOT = "not"
    CONTAINS = "contains"


class DimensionFilter(NamedTuple):
    """What a dimension's stored value is, is not (None: the events lack it), or contains, in upper or lower case."""

    dimension: Dimension
    operator: Operator
    value: str | int | None


Filters = Sequence[DimensionFilter]
NEW, RETURNING = "new", "returning"  # buyers: with their first purchase, or a later one
# Of values that are stored as numbers.
LABELS = {Dimension.HOUR: tuple(f"{hour:02}" for hour in range(24)), Dimension.WEEKDAY: WEEKDAYS}
OF_BUYERS = tuple(Dimension)[tuple(Dimension).index(Dimension.PRODUCT) :]


class Metric(StrEnum):
    """The figures of a group; money is in cents of the program's currency."""

    CLICKS = "clicks"
    LEADS = "leads"
    CONVERSIONS = "conversions"
    SALES = "sales"
    REVENUE = "revenue_cents"
    REFUNDS = "refunds"
    REFUNDED = "refunded_cents"
    COMMISSION = "commission_cents"
    CONVERSION_RATE = "conversion_rate_percent"
    EARNINGS_PER_CLICK = "earnings_per_click_cents"
    REFUND_RATE = "refund_rate_percent"


class GroupTotals(NamedTuple):
    """The sums of a group: those of the report, and what was refunded, which counts on the day of the sale."""

    clicks: int = 0
    leads: int = 0
    conversions: int = 0
    sales: int = 0
    revenue_cents: int = 0
    commission_cents: int = 0
    refunds: int = 0  # sales with one
    refunded_cents: int = 0

    @property
    def reported(self) -> metrics.Totals:
        return metrics.Totals(*self[: len(REPORTED)])

    def figure(self, metric: Metric) -> int | float:
        if metric == Metric.CONVERSION_RATE:
            return metrics.conversion_rate(self.conversions, self.clicks)
        if metric == Metric.EARNINGS_PER_CLICK:
            return metrics.earnings_per_click_cents(self.commission_cents, self.clicks)
        if metric == Metric.REFUND_RATE:
            return metrics.refund_rate(self.refunded_cents, self.revenue_cents)
        return int(getattr(self, metric))


NOTHING = GroupTotals()
REPORTED = GroupTotals._fields[: GroupTotals._fields.index("refunds")]  # those of a report, in its order


class BreakdownQuery(NamedTuple):
    """One or two dimensions, filters, metrics, the metric to sort by, and the number of rows."""

    by: tuple[Dimension, ...]
    filters: Filters
    metrics: tuple[Metric, ...]
    sort: Metric
    limit: int


class BreakdownGroup(NamedTuple):
    """The totals of one combination of values, in the order of the query's dimensions; None: the events lack it.

    `before` is what the same values brought in the window that it is compared with.
    """

    values: tuple[str | None, ...]
    totals: GroupTotals
    before: GroupTotals = NOTHING


class RankedGroups(NamedTuple):
    """The groups with the most of the sort's metric, how many there are beyond them, and the sum of all."""

    groups: list[BreakdownGroup]
    other_groups: int
    total: BreakdownGroup

    @property
    def other(self) -> BreakdownGroup:
        """The sum of the groups beyond these."""
        totals = _rest(self.total.totals, (each.totals for each in self.groups))
        return BreakdownGroup((), totals, _rest(self.total.before, (each.before for each in self.groups)))

    def shortened(self, rows: int) -> "RankedGroups":
        """Return fewer groups."""
        return self._replace(groups=self.groups[:rows], other_groups=self.other_groups + len(self.groups[rows:]))


def ranked(
    groups: Iterable[BreakdownGroup], query: BreakdownQuery, rest: GroupTotals = NOTHING, before: GroupTotals = NOTHING
) -> RankedGroups:
    """Return a query's groups: most of its metric first, then most clicks, then by name; `rest` counts as one other.

    `before` is all that the window had that they are compared with.
    """

    def rank(group: BreakdownGroup) -> tuple[Any, ...]:
        return (-group.totals.figure(query.sort), -group.totals.clicks, *(value or "" for value in group.values))

    ordered = sorted(groups, key=rank)
    total = metrics.added(rest, (group.totals for group in ordered))
    return RankedGroups(ordered, int(any(rest)), BreakdownGroup((), total, before)).shortened(query.limit)


def _rest(whole: GroupTotals, parts: Iterable[GroupTotals]) -> GroupTotals:
    return GroupTotals(*(total - sum(some) for total, *some in zip(whole, *parts, strict=True)))


def label(dimension: Dimension, value: str | int | None) -> str | None:
    """Return a stored value as people read it: the number of an hour, a weekday or a month as its name."""
    if not isinstance(value, int):
        return value
    if dimension in LABELS:
        return LABELS[dimension][value]
    if dimension in OF_DAY:
        return str(EPOCH + timedelta(days=value if dimension == Dimension.DAY else 7 * value - 3))
    return f"{value // 12:04}-{value % 12 + 1:02}" if dimension == Dimension.COHORT else str(value)
