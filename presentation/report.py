"""The performance report as JSON: the specification's rows, metrics, trends and meta. Money is in dollars here."""

from datetime import date as calendar_date
from datetime import datetime
from typing import Any

from pydantic import BaseModel

from storage.reading.performance import Day, Performance
from storage.rules import metrics, trend
from storage.rules.money import dollars
from storage.rules.period import Period, Window
from storage.rules.trend import Direction

# metric of a trend, its name in Totals, whether it is money
TRENDS = (
    ("clicks", "clicks", False),
    ("leads", "leads", False),
    ("conversions", "conversions", False),
    ("revenue", "revenue_cents", True),
    ("partners", "partners", False),
    ("sales", "sales", False),
    ("commission", "commission_cents", True),
)


class Row(BaseModel):
    """One UTC day; `sales` is always 0."""

    date: calendar_date
    period: calendar_date
    clicks: int
    leads: int
    conversions: int
    revenue: float
    partners: int
    sales: int
    commission: float


class Trend(BaseModel):
    """How a metric moved; `trend` is null from nothing to something."""

    trend: float | None
    trendDirection: Direction  # noqa: N815 - the specification's names, here and below
    previous: float


class Metrics(BaseModel):
    """The sums of the rows, and their trends."""

    totalClicks: int  # noqa: N815
    totalLeads: int  # noqa: N815
    totalConversions: int  # noqa: N815
    totalRevenue: float  # noqa: N815
    conversionRate: float  # noqa: N815
    averageOrderValue: float  # noqa: N815
    totalPartners: int  # noqa: N815
    totalSales: int  # noqa: N815
    totalPartnersCommission: float  # noqa: N815
    clicksTrend: Trend  # noqa: N815
    leadsTrend: Trend  # noqa: N815
    conversionsTrend: Trend  # noqa: N815
    revenueTrend: Trend  # noqa: N815
    partnersTrend: Trend  # noqa: N815
    salesTrend: Trend  # noqa: N815
    commissionTrend: Trend  # noqa: N815


class Range(BaseModel):
    """The first and the last millisecond of a window."""

    dateFrom: datetime  # noqa: N815
    dateTo: datetime  # noqa: N815


class Meta(Range):
    """What the report covers, and what it is compared to."""

    period: Period
    previousPeriod: Range  # noqa: N815


class Report(BaseModel):
    """Daily totals, metrics and trends of a program."""

    data: list[Row]
    metrics: Metrics
    meta: Meta


def report(found: Performance) -> dict[str, Any]:
    """Return a performance report as the specification's JSON object."""
    meta = {
        "period": found.period,
        **_range(found.window),
        "previousPeriod": _range(found.previous_window),
    }
    return {"data": [_row(day) for day in found.days], "metrics": _metrics(found), "meta": meta}


def _row(day: Day) -> dict[str, Any]:
    totals = day.totals
    return {
        "date": day.date,
        "period": day.date,
        "clicks": totals.clicks,
        "leads": totals.leads,
        "conversions": totals.conversions,
        "revenue": dollars(totals.revenue_cents),
        "partners": totals.partners,
        "sales": 0,
        "commission": dollars(totals.commission_cents),
    }


def _metrics(found: Performance) -> dict[str, Any]:
    total = found.current
    average_cents = metrics.average_order_cents(total.revenue_cents, total.conversions)
    return {
        "totalClicks": total.clicks,
        "totalLeads": total.leads,
        "totalConversions": total.conversions,
        "totalRevenue": dollars(total.revenue_cents),
        "conversionRate": metrics.conversion_rate(total.conversions, total.clicks),
        "averageOrderValue": dollars(average_cents),
        "totalPartners": total.partners,
        "totalSales": total.sales,
        "totalPartnersCommission": dollars(total.commission_cents),
        **{f"{name}Trend": _trend(found, field, money=money) for name, field, money in TRENDS},
    }


def _trend(found: Performance, field: str, *, money: bool) -> dict[str, Any]:
    previous, current = (getattr(totals, field) for totals in (found.previous, found.current))
    percent, direction = trend.between(previous, current)
    return {"trend": percent, "trendDirection": direction, "previous": dollars(previous) if money else previous}


def _range(window: Window) -> dict[str, Any]:
    return {"dateFrom": _iso(window.starts_at), "dateTo": _iso(window.ends_at)}


def _iso(at: datetime) -> str:
    """Write a moment with its milliseconds, always: 2026-01-31T23:59:59.999Z."""
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")
