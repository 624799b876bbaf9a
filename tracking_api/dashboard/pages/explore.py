"""Explore: where results come from, a card for each dimension. A row filters every card; the URL holds the filters."""

from collections.abc import Iterator
from typing import NamedTuple

from starlette.requests import Request
from starlette.responses import Response

from presentation import queries
from storage.reports import explore
from storage.reports.explore import Card, ComparedGroup
from storage.rules.errors import InvalidPeriod, InvalidRange, ServiceError, ValidationError
from storage.rules.reports import breakdown
from storage.rules.reports.breakdown import NONE, Dimension, GroupTotals
from tracking_api.dashboard.authentication import storage_of
from tracking_api.dashboard.pages import csv_export, filters, page_context, ranges, templates, text
from tracking_api.dashboard.pages.filters import FilterValues
from tracking_api.dashboard.pages.page_context import PageContext
from tracking_api.dashboard.pages.ranges import Picker

ROWS = 8
EXPORTED_ROWS = 10_000
OTHER = "(other)"
PERIOD = ("period", "dateFrom", "dateTo", "compare")


class CardTitle(NamedTuple):
    """What a card is called, and how it names the events that lack its dimension."""

    title: str
    row: str
    lacking: str


CARDS = {
    Dimension.REFERRER: CardTitle("Sources", "Referrer", "No referrer"),
    Dimension.LANDING_PATH: CardTitle("Pages", "Landing page", "Unknown"),
    Dimension.UTM_CAMPAIGN: CardTitle("Campaigns", "Campaign", "No campaign"),
    Dimension.COUNTRY: CardTitle("Places", "Country", "Unknown"),
    Dimension.DEVICE: CardTitle("Devices", "Device", "Unknown"),
    Dimension.PARTNER: CardTitle("Partners", "Partner", "Unknown"),
}


async def show_explore(request: Request) -> Response:
    """Show the cards of the range, by default the last 30 days; the page says what is wrong with a range or filter."""
    context = await page_context.as_member(request)
    picker = ranges.picker(request, context.at)
    problem: ServiceError | None = None
    cards: list[Card] = []
    try:
        cards = await _cards(request, context, picker, list(CARDS), rows=ROWS)
    except (InvalidPeriod, InvalidRange, ValidationError) as rejection:
        problem = rejection
    chosen = filters.chosen(request, *Dimension)
    return templates.render(
        request,
        "explore.html",
        status=400 if problem or picker.problem else 200,
        context=context,
        cards=cards,
        titles=CARDS,
        chosen=chosen,
        address=FilterValues({**filters.chosen(request, *PERIOD), **chosen}),
        lacking=NONE,
        problem=problem,
        picker=picker,
    )


async def export_card(request: Request) -> Response:
    """Return one card as a CSV file, with the filters of the page. Raises ValidationError."""
    context = await page_context.as_member(request)
    dimension = queries.choice(request.query_params, "by", Dimension) or Dimension.REFERRER
    picker = ranges.valid_picker(request, context.at)
    (card,) = await _cards(request, context, picker, [dimension], rows=EXPORTED_ROWS)
    name = f"{dimension}-{context.program.id}-{context.at:%Y-%m-%d}.csv"
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return Response(_csv(card), media_type="text/csv; charset=utf-8", headers=headers)


async def _cards(
    request: Request, context: PageContext, picker: Picker, dimensions: list[Dimension], *, rows: int
) -> list[Card]:
    """Return the cards of the program in the path, within the request's range and filters."""
    chosen = filters.chosen(request, *Dimension)
    sent = {each.value: text for each in Dimension if (text := queries.text(chosen, each)) is not None}
    return await storage_of(request).report(
        explore.read_cards,
        context.program.id,
        picker.picked.query,
        dimensions,
        breakdown.stored_filters(sent),
        rows=rows,
        at=context.at,
    )


def _csv(card: Card) -> str:
    """Return the file: a line for each group, then one for the rest if there is any."""
    names = [name.removesuffix("_cents") for name in GroupTotals._fields]
    header = [card.dimension.value, *names, *(f"previous_{name}" for name in names), "currency"]
    rest = [[OTHER, *_figures(card, card.other)]] if card.other_groups else []
    rows = [[csv_export.guarded(group.value or NONE), *_figures(card, group)] for group in card.groups]
    return csv_export.lines([header, *rows, *rest])


def _figures(card: Card, group: ComparedGroup) -> Iterator[str]:
    currency = card.currency
    for totals in (group.current, group.previous):
        for name, count in totals._asdict().items():
            yield str(text.major(count, currency) if name.endswith("_cents") else count)
    yield currency
