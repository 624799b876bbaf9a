"""Explore: where results come from, as figures, a chart and cards; its saved views, and the links that show them.

With filters the frame of the page is sent first. A link opens a view without signing in; it shows no customer.
"""

import tomllib
from collections.abc import AsyncIterator, Mapping, Sequence
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from presentation import queries
from presentation.api_request import ApiRequest, valid_id
from presentation.csv_text import csv_lines, guarded
from storage.access.workspaces import MANAGERS
from storage.engine.audit import Actor
from storage.management import saved_views
from storage.reports import explore
from storage.reports.breakdown import read_breakdown
from storage.rules.errors import LinkExpired, ServiceError, ValidationError
from storage.rules.reports import breakdown_query
from storage.rules.reports.breakdown import Dimension, Filters, GroupTotals, Operator
from tracking_api.dashboard.authentication import storage_of, time_of
from tracking_api.dashboard.pages import charted, forms, lists, notices, page_context, ranges, templates, text

WORDS = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
CARDS = {title: tuple(map(Dimension, names)) for title, names in WORDS["cards"].items()}
TITLES: dict[str, str] = WORDS["titles"]
PURPOSE = "read-only report"
ROWS, SHOWN_ROWS, MOST_ROWS = 8, 200, 10_000  # of a card, of a page with its rows, of its file


async def show_explore(request: Request) -> Response:
    """Show Explore with the program's saved views and their links; `add` leads to the page with one filter more."""
    context, sent = await page_context.as_member(request), request.query_params
    if dimension := queries.choice(sent, "add", Dimension) if sent.get("add") else None:
        how = queries.choice(sent, "how", Operator) or Operator.IS
        rest = ranges.FilterValues(sent).without("add", "how", "value", "cursor")
        name = f"{dimension}" if how == Operator.IS else f"{dimension}.{how}"
        value = _stored(dimension, sent.get("value", "").strip())
        return notices.redirect(f"{request.url.path}{rest.link(**{name: value})}")
    views = [(view, _link(context, view)) for view in await context.read(saved_views.list_views)]
    return await _page(context, context=context, views=views)


async def change_view(request: Request) -> Response:
    """Save the page's query under a name; share, revoke or delete a saved view. Raises NotFound, ValidationError."""
    context, form = await page_context.as_member(request, MANAGERS), await forms.read_form(request)
    action, query, view_id = (form.text(name) for name in ("action", "query", "view_id"))
    if action == "save":
        await context.write(saved_views.save, form.text("name"), query)
    elif action in {"share", "revoke", "delete"}:
        await context.write(saved_views.change, valid_id(view_id), action)
    else:
        raise ValidationError("This button does not exist.")
    return notices.redirect(f"{context.program_path}/explore?{query}", "views-changed")


def _link(context: page_context.PageContext, view: Any) -> str:
    """Return the link of a view, which no one can forge or change; empty for one that is not shared, or too old."""
    until = view.shared_until
    if until is None or until <= context.at:
        return ""
    values = (until, PURPOSE, context.program.id, view.id, until.isoformat())
    return f"{context.base_url}/reports/{quote(context.sealer.seal_until(*values))}"


async def show_shared(request: Request) -> Response:
    """Show the report of a link, whatever else its URL says. Raises LinkExpired for a revoked one, too."""
    storage, at, sealer = storage_of(request), time_of(request), request.app.state.settings.sealer()
    values = sealer.open_until(at, PURPOSE, request.path_params["sealed"])
    if not values:
        raise LinkExpired(hint="Ask whoever sent you the link for a new one.")
    program_id, view_id, until = values
    view = await storage.read(saved_views.get_shared, program_id, view_id, until=datetime.fromisoformat(until))
    figure = quote(request.query_params.get("figure", ""))  # which one the chart draws
    saved = Request({**request.scope, "query_string": f"{view.query}&figure={figure}".encode()})
    actor = Actor("link", str(view.id), view.name)
    call = ApiRequest(request=saved, storage=storage, at=at, actor=actor, program_id=program_id)
    return await _page(call, view=view, program_name=view.program)


def _filters(picker: ranges.Picker) -> tuple[dict[str, str], Filters, ServiceError | None]:
    """Return the filters of a URL as sent and as stored: none with a problem."""
    names = {f"{each}{end}" for each in Dimension for end in ("", *(f".{how}" for how in Operator))}
    sent = {name: value for name, value in picker.address.items() if name in names}
    try:
        checked = {name: value for name in sent if (value := queries.text(sent, name))}
        return sent, breakdown_query.stored_filters(checked), None
    except ValidationError as rejection:
        return sent, (), rejection


async def _page(call: ApiRequest, **shown: Any) -> Response:
    """Return the page of what the request asks for, with what else is shown on it."""
    picker = ranges.picker(call.request, call.at)
    (sent, filters, problem), wanted = _filters(picker), picker.picked
    frame = await call.report(explore.read_frame, wanted, is_filtered=bool(filters), at=call.at)
    is_waiting = bool(filters) and not frame.reach
    shown |= {"picker": picker, "sent": sent, "filters": filters, "problem": problem, "is_waiting": is_waiting}
    shown |= {**frame._asdict(), "charted": charted.of(frame.results, picker), "cards": []}
    shown |= {"words": WORDS, "title_of": TITLES.get, "name_of": partial(name_of, names=frame.names)}
    draw = partial(templates.render, call.request, status=400 if problem or picker.problem else 200)

    async def cards() -> dict[str, Any]:
        tabs = tuple(_tab(picker.address[card.lower()], dimensions) for card, dimensions in CARDS.items())
        query = explore.BY_REVENUE._replace(by=tabs, filters=filters, limit=ROWS)
        try:
            cards, results = await call.report(explore.read_cards, wanted, query, at=call.at)
        except ServiceError as rejection:
            if not is_waiting and not isinstance(rejection, ValidationError):
                raise
            return shown | {"problem": rejection}
        found = {"cards": list(zip(tabs, cards, strict=True))}
        return shown | found | ({"charted": charted.of(results, picker)} if filters else {})

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


def _tab(sent: str, dimensions: Sequence[Dimension]) -> Dimension:
    return next((each for each in dimensions if each == sent), dimensions[0])


async def show_rows(request: Request) -> Response:
    """Show the rows of a card whose names contain the search, most revenue first. Raises ValidationError."""
    shown = await _read(request)
    return templates.render(request, "explore_rows.html", **shown, shown=SHOWN_ROWS, none_text=breakdown_query.NONE)


async def export_card(request: Request) -> Response:
    """Return the same rows as a CSV file, with those of the period before, then the rest. Raises ValidationError."""
    shown = await _read(request)
    context, by, card = (shown[name] for name in ("context", "by", "card"))
    currency = context.currency
    names = [name.removesuffix("_cents") for name in GroupTotals._fields]
    header = [by.value, *names, *(f"previous_{name}" for name in names), "currency"]
    named = [(guarded(each.values[0] or breakdown_query.NONE), each) for each in card.groups]
    named += [("(other)", card.other)] if card.other_groups else []
    rows = []
    for name, group in named:
        figures = [figure for totals in group[1:] for figure in totals._asdict().items()]
        written = [text.major(count, currency) if each.endswith("_cents") else count for each, count in figures]
        rows.append([name, *map(str, written), currency])
    return lists.csv_file(f"{by}-{context.program.id}-{context.at:%Y-%m-%d}", [csv_lines([header, *rows])])


async def _read(request: Request) -> dict[str, Any]:
    """Return what a page of a card's rows shows. Raises ValidationError, InvalidPeriod, InvalidRange."""
    context, sent = await page_context.as_member(request), request.query_params
    picker = ranges.picker(request, context.at, is_valid=True)
    _, filters, problem = _filters(picker)
    if problem:
        raise problem
    by = queries.choice(sent, "by", Dimension) or Dimension.REFERRER
    query = explore.BY_REVENUE._replace(by=(by,), filters=filters, limit=MOST_ROWS)
    result = await context.report(read_breakdown, picker.picked, query, at=context.at)
    card, typed, named = result.ranked, sent.get("q", ""), partial(name_of, by, names=result.names)
    found = [each for each in card.groups if typed.lower() in named(each.values[0]).lower()]
    if len(found) < len(card.groups):
        card = card._replace(groups=found, other_groups=0)
    about = {"context": context, "picker": picker, "by": by, "title": TITLES[by], "typed": typed}
    return {**about, "card": card, "name_of": named}


def name_of(dimension: Dimension, value: str | None, names: Mapping[str, str]) -> str:
    """Return what people call a value; `names` are those of partners, by their codes."""
    if value in {None, breakdown_query.NONE}:
        is_of_buyers = dimension in {Dimension.BUYER, Dimension.COHORT}
        return "No purchase" if is_of_buyers else f"No {TITLES[dimension].lower()}"
    if dimension in {Dimension.DEVICE, Dimension.BUYER}:
        return text.words(str(value))
    if dimension == Dimension.PARTNER:
        return text.plain(names.get(str(value), value))
    return text.country(str(value)) if dimension == Dimension.COUNTRY else text.plain(value)


def _stored(dimension: Dimension, value: str) -> str:
    """Return a value as it is stored: the code of a country that was named, a device in small letters."""
    if dimension == Dimension.COUNTRY:
        codes = {str(name).lower(): code for code, name in text.DEFAULT.territories.items() if code.isalpha()}
        return value.upper() if value.upper() in codes.values() else codes.get(value.lower(), value)
    return value.lower() if dimension in {Dimension.DEVICE, Dimension.LANGUAGE, Dimension.BUYER} else value
