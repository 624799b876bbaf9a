"""Results as a page shows them: tiles with trends, a chart, and the chart's table."""

from datetime import datetime, timedelta
from typing import Any, NamedTuple

from storage.reports.chart import Results
from storage.rules.periods.period import Window
from storage.tracking import currencies
from tracking_api.dashboard.pages import spans, text
from tracking_api.dashboard.pages.figures import DETAILS, FIGURES, Figure
from tracking_api.dashboard.pages.spans import ChartRow, Spans

LENGTHS = {"hour": timedelta(hours=1)}  # of a span's last step; a day otherwise
DAY = timedelta(days=1)


class Tile(NamedTuple):
    """A figure of the whole range; `before` is None if it is not compared."""

    figure: Figure
    current: int
    previous: int
    written: str
    before: str | None


class Row(NamedTuple):
    """A row of the table: its label, its first and last day, the figures as text; `is_open`: not over yet."""

    label: str
    first: str
    last: str
    values: list[str]
    is_open: bool


class Charted(NamedTuple):
    """What the page shows of a range."""

    unit: str
    window: Window
    compared_with: Window | None
    tiles: list[Tile]
    details: list[Tile]
    figures: tuple[Figure, ...]
    rows: list[Row]
    chart: dict[str, Any]


def of(results: Results, *, is_compared: bool, details: tuple[Figure, ...] = DETAILS) -> Charted:
    """Return results as a page shows them."""
    report = results.report
    shown = spans.of(results.steps, results.previous_steps if is_compared else (), is_hourly=results.is_hourly)
    totals = spans.added(results.steps)._replace(totals=report.current)
    before = spans.added(results.previous_steps)._replace(totals=report.previous) if is_compared else None
    return Charted(
        shown.unit,
        report.window,
        report.previous_window if is_compared else None,
        [_tile(figure, totals, before, report.currency) for figure in FIGURES],
        [_tile(figure, totals, before, report.currency) for figure in details],
        FIGURES,
        [_row(span, shown.unit, report.currency, report.at) for span in shown.rows if span.first <= report.at],
        _chart(shown, report.currency, report.at),
    )


def _tile(figure: Figure, totals: ChartRow, before: ChartRow | None, currency: str) -> Tile:
    previous = (figure.comparable(before), figure.written(before, currency)) if before else (0, None)
    return Tile(figure, figure.comparable(totals), previous[0], figure.written(totals, currency), previous[1])


def _row(span: ChartRow, unit: str, currency: str, at: datetime) -> Row:
    values = [figure.written(span, currency) for figure in FIGURES]
    return Row(_label(span, unit), *_days(span), values, _ends(span, unit) > at)


def _chart(shown: Spans, currency: str, at: datetime) -> dict[str, Any]:
    """Return the chart's data as JSON; `open` is the first step that is not over, later ones are not drawn."""
    begun = [span for span in shown.rows if span.first <= at]
    days = [_days(span) for span in shown.rows]
    return {
        "unit": shown.unit,
        "currency": currency,
        "digits": currencies.digits(currency),
        "ticks": [_tick(span, shown.unit) for span in shown.rows],
        "from": [first for first, _ in days],
        "to": [last for _, last in days],
        "labels": [_label(span, shown.unit) for span in shown.rows],
        "open": next((n for n, span in enumerate(shown.rows) if _ends(span, shown.unit) > at), None),
        "figures": {
            figure.name: {
                "title": figure.title,
                "kind": figure.kind,
                "now": [figure.plotted(span, currency) for span in begun],
                "before": [figure.plotted(span, currency) for span in shown.previous],
            }
            for figure in FIGURES
        },
    }


def _days(span: ChartRow) -> tuple[str, str]:
    return str(span.first.date()), str(span.last.date())


def _ends(span: ChartRow, unit: str) -> datetime:
    return span.last + LENGTHS.get(unit, DAY)


def _label(span: ChartRow, unit: str) -> str:
    if unit == "hour":
        return f"{span.first:%H:%M} to {span.first + LENGTHS[unit]:%H:%M}"
    return text.day(span.first) if span.first == span.last else f"{text.day(span.first)} to {text.day(span.last)}"


def _tick(span: ChartRow, unit: str) -> str:
    """Return the short label on the axis."""
    if unit == "hour":
        return f"{span.first:%H:%M}"
    return text.month(span.first) if unit == "month" else text.short_day(span.first)
