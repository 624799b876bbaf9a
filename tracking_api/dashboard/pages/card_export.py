"""A card of the explore page as CSV: each group's totals in the period and in the one before."""

from collections.abc import Iterator

from storage.reports.explore import Card, ComparedGroup
from storage.rules.reports.breakdown import NONE, GroupTotals
from tracking_api.dashboard.pages import csv_export, text

OTHER = "(other)"


def of(card: Card) -> str:
    """Return the file: a line for each group, then one for the rest if there is any."""
    names = [name.removesuffix("_cents") for name in GroupTotals._fields]
    header = [card.dimension.value, *names, *(f"previous_{name}" for name in names), "currency"]
    rest = [[OTHER, *_figures(card, card.other)]] if card.report.other_groups else []
    rows = [[csv_export.guarded(group.value or NONE), *_figures(card, group)] for group in card.groups]
    return csv_export.lines([header, *rows, *rest])


def _figures(card: Card, group: ComparedGroup) -> Iterator[str]:
    currency = card.report.currency
    for totals in (group.current, group.previous):
        for name, count in totals._asdict().items():
            yield str(text.major(count, currency) if name.endswith("_cents") else count)
    yield currency
