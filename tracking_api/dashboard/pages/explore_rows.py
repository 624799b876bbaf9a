"""All rows of a card of Explore: a page with a search, and a CSV file."""

from collections.abc import Iterator

from starlette.requests import Request
from starlette.responses import Response

from presentation import queries
from storage.reports import explore
from storage.reports.explore import Card, ComparedGroup
from storage.rules.reports.breakdown import Dimension, GroupTotals
from storage.rules.reports.breakdown_query import NONE
from tracking_api.dashboard.pages import csv_export, page_context, ranges, templates, text
from tracking_api.dashboard.pages.dimensions import name_of, title_of
from tracking_api.dashboard.pages.explore import read_url
from tracking_api.dashboard.pages.page_context import PageContext

SHOWN, ROWS = 200, 10_000
OTHER = "(other)"


async def show_rows(request: Request) -> Response:
    """Show the rows of a card whose names contain the search, most revenue first. Raises ValidationError."""
    context = await page_context.as_member(request)
    names, _, card = await _read(request, context)
    return templates.render(
        request,
        "explore_rows.html",
        context=context,
        picker=ranges.picker(request, context.at),
        card=card,
        shown=SHOWN,
        title=title_of(card.dimension),
        name_of=name_of,
        names=names,
        typed=request.query_params.get("q", ""),
        none_text=NONE,
    )


async def export_card(request: Request) -> Response:
    """Return the same rows as a CSV file, with those of the period before. Raises ValidationError."""
    context = await page_context.as_member(request)
    _, currency, card = await _read(request, context)
    name = f"{card.dimension}-{context.program.id}-{context.at:%Y-%m-%d}.csv"
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return Response(_csv(card, currency), media_type="text/csv; charset=utf-8", headers=headers)


async def _read(request: Request, context: PageContext) -> tuple[dict[str, str], str, Card]:
    """Return the names of partners, the currency, and the card. Raises ValidationError, InvalidPeriod, InvalidRange."""
    asked, wanted = read_url(request, context.at), ranges.valid_picker(request, context.at).picked.query
    if asked.problem:
        raise asked.problem
    by = queries.choice(request.query_params, "by", Dimension) or Dimension.REFERRER
    read = context.report(explore.read_card, wanted, by, asked.filters, rows=ROWS, at=context.at)
    names, currency, card = await read
    typed = (request.query_params.get("q") or "").lower()
    found = [each for each in card.groups if typed in name_of(by, each.value, names).lower()]
    is_whole = len(found) == len(card.groups)
    return names, currency, card._replace(groups=found, other_groups=card.other_groups if is_whole else 0)


def _csv(card: Card, currency: str) -> str:
    """Return the file: a line for each group, then one for the rest if there is any."""
    names = [name.removesuffix("_cents") for name in GroupTotals._fields]
    header = [card.dimension.value, *names, *(f"previous_{name}" for name in names), "currency"]
    rest = [[OTHER, *_figures(card.other, currency)]] if card.other_groups else []
    rows = [[csv_export.guarded(group.value or NONE), *_figures(group, currency)] for group in card.groups]
    return csv_export.lines([header, *rows, *rest])


def _figures(group: ComparedGroup, currency: str) -> Iterator[str]:
    for totals in (group.current, group.previous):
        for name, count in totals._asdict().items():
            yield str(text.major(count, currency) if name.endswith("_cents") else count)
    yield currency
