"""Explore: where results come from, as figures, a chart and cards; with filters the frame of the page is sent first."""

from collections.abc import AsyncIterator, Mapping
from functools import cache, partial
from typing import Any

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from presentation import queries
from presentation.api_request import ApiRequest
from storage.reports import explore
from storage.reports.explore import Card, Frame
from storage.rules.errors import ServiceError, ValidationError
from storage.rules.reports import breakdown_query
from storage.rules.reports.breakdown import Dimension, Filters, GroupTotals, Operator
from storage.rules.reports.breakdown_query import NONE
from tracking_api.dashboard.pages import charted, notices, page_context, ranges, templates, text
from tracking_api.dashboard.pages.lists import csv_lines, guarded
from tracking_api.dashboard.pages.page_context import PageContext
from tracking_api.dashboard.pages.ranges import FilterValues, Picker

OPERATORS = {Operator.IS: "is", Operator.IS_NOT: "is not", Operator.CONTAINS: "contains"}
CARDS = {
    "Sources": (Dimension.REFERRER, Dimension.UTM_CAMPAIGN, Dimension.UTM_SOURCE, Dimension.UTM_MEDIUM),
    "Pages": (Dimension.LANDING_PATH, Dimension.PRODUCT),
    "Places": (Dimension.COUNTRY, Dimension.REGION, Dimension.LANGUAGE),
    "Partners": (Dimension.PARTNER, Dimension.CAMPAIGN),
    "Devices": (Dimension.DEVICE, Dimension.BROWSER, Dimension.OS),
    "Buyers": (Dimension.BUYER, Dimension.COHORT, Dimension.WEEKDAY),
}
_TITLES = {
    Dimension.UTM_CAMPAIGN: "Campaign",
    Dimension.UTM_SOURCE: "Source",
    Dimension.UTM_MEDIUM: "Medium",
    Dimension.LANDING_PATH: "Landing page",
    Dimension.CAMPAIGN: "Link tag",
    Dimension.OS: "System",
    Dimension.BUYER: "New or returning",
    Dimension.COHORT: "Signed up in",
}
ROWS, SHOWN_ROWS, MOST_ROWS = 8, 200, 10_000  # of a card, of a page with its rows, of its file


def _filters(picker: Picker) -> tuple[dict[str, str], Filters, ServiceError | None]:
    """Return the filters of a URL as sent and as stored: none with a problem."""
    names = {f"{each}{end}" for each in Dimension for end in ("", *(f".{how}" for how in Operator))}
    sent = {name: value for name, value in picker.address.items() if name in names}
    try:
        checked = {name: value for name in sent if (value := queries.text(sent, name))}
        return sent, breakdown_query.stored_filters(checked), None
    except ValidationError as rejection:
        return sent, (), rejection


async def page(call: ApiRequest, **shown: Any) -> Response:
    """Return the page of what the request asks for, with what else is shown on it."""
    picker = ranges.picker(call.request, call.at)
    (sent, filters, problem), wanted = _filters(picker), picker.picked
    frame = await call.report(explore.read_frame, wanted, is_filtered=bool(filters), at=call.at)
    is_waiting = bool(filters) and not frame.reach
    shown |= {"picker": picker, "sent": sent, "problem": problem, "is_waiting": is_waiting}
    shown |= {"charted": charted.of(frame.results, picker), **_values(picker, sent, filters, frame)}
    draw = partial(templates.render, call.request, status=400 if problem or picker.problem else 200)

    async def cards() -> dict[str, Any]:
        tabs = [
            next((each for each in dimensions if each == picker.address[card.lower()]), dimensions[0])
            for card, dimensions in CARDS.items()
        ]
        try:
            cards, results = await call.report(explore.read_cards, wanted, tabs, filters, rows=ROWS, at=call.at)
        except ServiceError as rejection:
            if not is_waiting and not isinstance(rejection, ValidationError):
                raise
            return shown | {"problem": rejection}
        return shown | {"cards": cards} | ({"charted": charted.of(results, picker)} if filters else {})

    if not filters and not problem:
        shown = await cards()
    page = draw("explore.html", **shown)
    if not is_waiting:
        return page
    before, _, after = bytes(page.body).partition(b"<!-- the rest -->")

    async def parts() -> AsyncIterator[bytes]:
        yield before
        yield bytes(draw("explore_results.html", **await cards()).body)
        yield after

    del page.headers["content-length"]
    return StreamingResponse(parts(), page.status_code, page.headers)


def _values(picker: Picker, sent: dict[str, str], filters: Filters, frame: Frame) -> dict[str, Any]:
    """Return what the page shows besides its figures; a chip is a filter as people read it, and the query without."""
    chips = [
        (
            f"{title_of(each.dimension)} {OPERATORS[each.operator]}",
            name_of(each.dimension, sent[name], frame.names),
            picker.address.link(**{name: None}),
        )
        for name, each in zip(sent, filters, strict=False)
    ]
    return {
        **frame._asdict(),
        "currency": frame.results.report.currency,
        "cards": list[Card](),
        "card_titles": list(CARDS.items()),
        "chips": chips,
        "operators": OPERATORS,
        "title_of": title_of,
        "name_of": partial(name_of, names=frame.names),
    }


def add_filter(request: Request) -> Response:
    """Lead to the page with one filter more."""
    sent = request.query_params
    dimension = queries.choice(sent, "add", Dimension)
    how = queries.choice(sent, "how", Operator) or Operator.IS
    rest = FilterValues(sent).without("add", "how", "value", "cursor")
    name = f"{dimension}" if how == Operator.IS else f"{dimension}.{how}"
    value = _stored(dimension, sent.get("value", "").strip()) if dimension else ""
    return notices.redirect(f"{request.url.path}{rest.link(**{name: value})}")


async def show_rows(request: Request) -> Response:
    """Show the rows of a card whose names contain the search, most revenue first. Raises ValidationError."""
    context = await page_context.as_member(request)
    names, _, card = await _read(context)
    return templates.render(
        request,
        "explore_rows.html",
        context=context,
        picker=ranges.picker(request, context.at),
        card=card,
        shown=SHOWN_ROWS,
        title=title_of(card.dimension),
        name_of=partial(name_of, names=names),
        typed=request.query_params.get("q", ""),
        none_text=NONE,
    )


async def export_card(request: Request) -> Response:
    """Return the same rows as a CSV file, with those of the period before, then the rest. Raises ValidationError."""
    context = await page_context.as_member(request)
    _, currency, card = await _read(context)
    names = [name.removesuffix("_cents") for name in GroupTotals._fields]
    header = [card.dimension.value, *names, *(f"previous_{name}" for name in names), "currency"]
    named = [(guarded(group.value or NONE), group) for group in card.groups]
    named += [("(other)", card.other)] if card.other_groups else []
    rows = [
        [name, *(_figure(*each, currency) for totals in group[1:] for each in totals._asdict().items()), currency]
        for name, group in named
    ]
    file = f"{card.dimension}-{context.program.id}-{context.at:%Y-%m-%d}.csv"
    headers = {"Content-Disposition": f'attachment; filename="{file}"'}
    return Response(csv_lines([header, *rows]), media_type="text/csv; charset=utf-8", headers=headers)


def _figure(name: str, count: int, currency: str) -> str:
    return str(text.major(count, currency) if name.endswith("_cents") else count)


async def _read(context: PageContext) -> tuple[dict[str, str], str, Card]:
    """Return the names of partners, the currency, and the card. Raises ValidationError, InvalidPeriod, InvalidRange."""
    sent, picker = context.request.query_params, ranges.picker(context.request, context.at, is_valid=True)
    _, filters, problem = _filters(picker)
    if problem:
        raise problem
    by, wanted = queries.choice(sent, "by", Dimension) or Dimension.REFERRER, picker.picked
    read = context.report(explore.read_card, wanted, by, filters, rows=MOST_ROWS, at=context.at)
    names, currency, card = await read
    typed = sent.get("q", "").lower()
    found = [each for each in card.groups if typed in name_of(by, each.value, names).lower()]
    is_whole = len(found) == len(card.groups)
    return names, currency, card._replace(groups=found, other_groups=card.other_groups if is_whole else 0)


def title_of(dimension: Dimension) -> str:
    """Return what people call a dimension."""
    return _TITLES.get(dimension) or text.words(dimension)


def name_of(dimension: Dimension, value: str | None, names: Mapping[str, str]) -> str:
    """Return what people call a value; `names` are those of partners, by their codes."""
    if value in {None, NONE}:
        is_of_buyers = dimension in {Dimension.BUYER, Dimension.COHORT}
        return "No purchase" if is_of_buyers else f"No {title_of(dimension).lower()}"
    if dimension in {Dimension.DEVICE, Dimension.BUYER}:
        return text.words(str(value))
    if dimension == Dimension.PARTNER:
        return text.plain(names.get(str(value), value))
    return text.country(str(value)) if dimension == Dimension.COUNTRY else text.plain(value)


def _stored(dimension: Dimension, value: str) -> str:
    """Return a value as it is stored: the code of a country that was named, a device in small letters."""
    if dimension == Dimension.COUNTRY:
        return _countries().get(value.lower(), value)
    return value.lower() if dimension in {Dimension.DEVICE, Dimension.LANGUAGE, Dimension.BUYER} else value


@cache
def _countries() -> dict[str, str]:
    codes = {code: str(name) for code, name in text.DEFAULT.territories.items() if code.isalpha()}
    return {written.lower(): code for code, name in codes.items() for written in (code, name)}
