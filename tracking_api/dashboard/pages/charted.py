"""Results as a page shows them: tiles with trends, a chart, and the chart's table. A long range is added up."""

from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from itertools import chain, groupby, islice
from typing import Any, NamedTuple

from storage.reports.chart import Results, Step
from storage.rules.periods.period import Window
from storage.rules.reports import metrics
from storage.rules.reports.metrics import Totals, Trend
from storage.tracking import currencies
from tracking_api.dashboard.pages import figures, text
from tracking_api.dashboard.pages.figures import FIGURES, Figure

MOST_DAYS = 92
MOST_WEEKS_OF_DAYS = 732
HOUR, DAY = timedelta(hours=1), timedelta(days=1)


class Tile(NamedTuple):
    """A figure of the whole range; `before`, `trend` and `moved` (by how much) are None if it is not compared."""

    figure: Figure
    written: str
    before: str | None = None
    trend: Trend | None = None
    moved: str | None = None


class Row(NamedTuple):
    """A row of the table: its label, its first and last day, the figures as text; `is_open`: not over yet."""

    label: str
    first: str
    last: str
    values: list[str]
    is_open: bool


class Charted(NamedTuple):
    """What the page shows of a range: its chart begins with the `chosen` figure.

    `lines` are the points of its line and of the one before, in percent of the chart, `highest` is its top.
    """

    unit: str
    window: Window
    compared_with: Window | None
    tiles: list[Tile]
    rows: list[Row]
    chart: dict[str, Any]
    chosen: Figure
    lines: list[str]
    highest: str


def of(results: Results, *, is_compared: bool, figure: str | None = None) -> Charted:
    """Return results as a page shows them."""
    report, currency = results.report, results.report.currency
    unit, groups = grouped(results.steps, is_hourly=results.is_hourly)
    steps = list(map(added, groups))
    begun = [step for step in steps if step.first <= report.at]
    rows = [_row(step, unit, currency, report.at) for step in steps]
    previous = list(alike(groups, results.previous_steps)) if is_compared else []
    totals = added(results.steps)._replace(totals=report.current)
    before = added(results.previous_steps)._replace(totals=report.previous) if is_compared else None
    chart = {
        "unit": unit,
        "currency": currency,
        "digits": currencies.digits(currency),
        "ticks": [_tick(step, unit) for step in steps],
        "from": [row.first for row in rows],
        "to": [row.last for row in rows],
        "labels": [row.label for row in rows],
        "open": next((n for n, row in enumerate(rows) if row.is_open), None),  # later ones are not drawn
        "figures": {figure.name: _plotted(figure, begun, previous, currency) for figure in FIGURES},
    }
    tiles = [_tile(figure, totals, before, currency) for figure in FIGURES]
    chosen = figures.chosen(figure)
    drawn = [[max(chosen.of(step), 0) for step in each] for each in (begun, previous)]
    top = max(chain(*drawn), default=0)
    lines = [_line(each, top or 1, len(steps)) for each in drawn]
    highest = max((*begun, *previous), key=chosen.of, default=totals)
    compared_with = report.previous_window if is_compared else None
    shown = (unit, report.window, compared_with, tiles, rows[: len(begun)], chart)
    return Charted(*shown, chosen, lines, chosen.written(highest, currency))


def grouped(steps: list[Step], *, is_hourly: bool = False) -> tuple[str, list[list[Step]]]:
    """Return the unit of a row, and its steps: single hours or days, weeks over 92 days, months over two years."""
    if is_hourly or len(steps) <= MOST_DAYS:
        return "hour" if is_hourly else "day", [[step] for step in steps]
    if len(steps) <= MOST_WEEKS_OF_DAYS:
        return "week", _by(steps, lambda at: at - timedelta(days=at.weekday()))
    return "month", _by(steps, lambda at: at.replace(day=1))


def added(steps: list[Step]) -> Step:
    """Return the sum of some steps."""
    totals = metrics.added(Totals(), (step.totals for step in steps))
    return Step(steps[0].first, steps[-1].last, totals, sum(step.refunded_cents for step in steps))


def alike(groups: list[list[Step]], steps: list[Step]) -> Iterator[Step]:
    """Yield the sums of other steps in groups of the same lengths."""
    rest = iter(steps)
    for group in groups:
        if taken := list(islice(rest, len(group))):
            yield added(taken)


def _by(steps: list[Step], start: Callable[[datetime], datetime]) -> list[list[Step]]:
    return [list(group) for _, group in groupby(steps, key=lambda step: start(step.first))]


def _tile(figure: Figure, totals: Step, before: Step | None, currency: str) -> Tile:
    tile = Tile(figure, figure.written(totals, currency))
    if before is None:
        return tile
    trend, moved = figure.moved(before, totals)
    return tile._replace(before=figure.written(before, currency), trend=trend, moved=moved)


def _line(values: list[float], top: float, count: int) -> str:
    """Return the points of a line through the steps."""
    return " ".join(
        f"{100 * n / max(count - 1, 1):.1f},{100 - 100 * value / top:.0f}" for n, value in enumerate(values)
    )


def _row(step: Step, unit: str, currency: str, at: datetime) -> Row:
    first, last = step.first, step.last
    if unit == "hour":
        label = f"{first:%H:%M} to {first + HOUR:%H:%M}"
    else:
        label = text.day(first) if first == last else f"{text.day(first)} to {text.day(last)}"
    values = [figure.written(step, currency) for figure in FIGURES]
    return Row(label, str(first.date()), str(last.date()), values, last + (HOUR if unit == "hour" else DAY) > at)


def _plotted(figure: Figure, now: list[Step], before: list[Step], currency: str) -> dict[str, Any]:
    return {
        "title": figure.title,
        "kind": figure.kind,
        "now": [figure.plotted(step, currency) for step in now],
        "before": [figure.plotted(step, currency) for step in before],
    }


def _tick(step: Step, unit: str) -> str:
    """Return the short label on the axis."""
    if unit == "hour":
        return f"{step.first:%H:%M}"
    return text.month(step.first) if unit == "month" else text.short_day(step.first)
