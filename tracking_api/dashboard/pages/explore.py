"""Explore: where results come from, as figures, a chart and cards. A row filters all of them; the URL has the filters.

With filters the frame is sent at once; what takes a read of the events follows in the same response.
"""

from collections.abc import AsyncIterator, Callable
from functools import partial
from typing import Any, NamedTuple

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from presentation import queries
from storage.reports import explore
from storage.reports.explore import Card, Frame
from storage.rules.errors import ServiceError, ValidationError
from storage.rules.reports import breakdown_query
from storage.rules.reports.breakdown import Dimension, Filters, Operator
from tracking_api.dashboard.pages import charted, notices, page_context, ranges, templates
from tracking_api.dashboard.pages.dimensions import CARDS, OPERATORS, name_of, title_of, typed
from tracking_api.dashboard.pages.filters import FilterValues
from tracking_api.dashboard.pages.ranges import Picker

ROWS = 8
REST = "<!-- the rest -->"
Report = Callable[..., Any]  # runs a read of the program


class ExploreQuery(NamedTuple):
    """What a URL asks for: a range, filters as they were sent and as they are stored, and a dimension for each card."""

    picker: Picker
    sent: dict[str, str]
    filters: Filters
    tabs: dict[str, Dimension]
    problem: ServiceError | None


class Chip(NamedTuple):
    """A filter as people read it, and the query string without it."""

    text: str
    value: str
    link: str


def read_url(request: Request, at: Any) -> ExploreQuery:
    """Return what a URL asks for; a wrong filter is the problem, and then there are none."""
    picker = ranges.picker(request, at)
    names = {f"{each}{end}" for each in Dimension for end in ("", *(f".{how}" for how in Operator))}
    sent = {name: value for name, value in picker.address.items() if name in names}
    tabs = {
        card: next((each for each in dimensions if each == picker.address[card.lower()]), dimensions[0])
        for card, dimensions in CARDS.items()
    }
    try:
        checked = {name: value for name in sent if (value := queries.text(sent, name))}
        return ExploreQuery(picker, sent, breakdown_query.stored_filters(checked), tabs, None)
    except ValidationError as rejection:
        return ExploreQuery(picker, sent, (), tabs, rejection)


async def show_explore(request: Request) -> Response:
    """Show the figures and cards of the range, by default the last 30 days, or what is wrong with a filter."""
    context = await page_context.as_member(request)
    if request.query_params.get("add"):
        return _add_filter(request)
    return await respond(request, read_url(request, context.at), context.report, at=context.at, context=context)


async def respond(
    request: Request, asked: ExploreQuery, report: Report, *, at: Any, template: str = "explore.html", **values: Any
) -> Response:
    """Return a page with the figures and cards that a URL asks for."""
    picker, wanted = asked.picker, asked.picker.picked.query
    frame: Frame = await report(explore.read_frame, wanted, is_filtered=bool(asked.filters), at=at)
    chart = partial(charted.of, is_compared=picker.is_compared, figure=picker.address["figure"])
    values |= {
        **asked._asdict(),
        **frame._asdict(),
        "cards": list[Card](),
        "card_titles": list(CARDS.items()),
        "charted": chart(frame.results),
        "chips": _chips(asked, frame),
        "operators": OPERATORS,
        "title_of": title_of,
        "name_of": partial(name_of, names=frame.names),
        "is_waiting": False,
    }
    page = partial(templates.render, request, status=400 if asked.problem or picker.problem else 200)
    if asked.problem or frame.reach:
        return page(template, **values)
    read = partial(report, explore.read_cards, wanted, [*asked.tabs.values()], asked.filters, rows=ROWS, at=at)
    if not asked.filters:
        return page(template, **values | {"cards": (await read())[0]})

    async def rest() -> str:
        try:
            cards, results = await read()
        except ServiceError as rejection:
            return _body(page("explore_results.html", **values | {"problem": rejection}))
        return _body(page("explore_results.html", **values | {"charted": chart(results), "cards": cards}))

    return _streamed(page(template, **values | {"is_waiting": True}), rest)


def _chips(asked: ExploreQuery, frame: Frame) -> list[Chip]:
    address = asked.picker.address
    return [
        Chip(
            f"{title_of(each.dimension)} {OPERATORS[each.operator]}",
            name_of(each.dimension, asked.sent[name], frame.names),
            address.link(**{name: None}),
        )
        for name, each in zip(asked.sent, asked.filters, strict=False)
    ]


def _add_filter(request: Request) -> Response:
    """Lead to the page with one filter more."""
    sent = request.query_params
    dimension = queries.choice(sent, "add", Dimension)
    how = queries.choice(sent, "how", Operator) or Operator.IS
    rest = FilterValues(sent).without("add", "how", "value", "cursor")
    name = f"{dimension}" if how == Operator.IS else f"{dimension}.{how}"
    value = typed(dimension, sent.get("value", "").strip()) if dimension else ""
    return notices.redirect(f"{request.url.path}{rest.link(**{name: value})}")


def _streamed(frame: Response, rest: Callable[[], Any]) -> Response:
    """Send a page as far as it is known, and then what takes longer."""
    before, _, after = _body(frame).partition(REST)

    async def parts() -> AsyncIterator[str]:
        yield before
        yield await rest()
        yield after

    del frame.headers["content-length"]
    return StreamingResponse(parts(), frame.status_code, frame.headers)


def _body(page: Response) -> str:
    return bytes(page.body).decode()
