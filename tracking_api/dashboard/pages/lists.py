"""List pages, which templates/lists.html draws, and their CSV files (RFC 4180); the URL says what narrows and sorts."""

import json
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from decimal import Decimal
from enum import StrEnum
from typing import Any, NamedTuple, cast

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from presentation.api_request import valid_id
from presentation.csv_text import csv_lines, guarded
from presentation.queries import ALL_DAYS, is_order, query_of
from storage.access.workspaces import ANYONE, Role
from storage.lists.declaration import DEFAULT_LIMIT, MOST, NEWEST_FIRST, Field, List, ListQuery, Page
from storage.lists.find import find
from storage.rules.periods.period import Period
from tracking_api.dashboard.authentication import time_of
from tracking_api.dashboard.pages import page_context, ranges, text
from tracking_api.dashboard.pages.buttons import FormOutcome

DATES = ("period", *ranges.DATES)
NOTHING_SENT = FormOutcome()
Values = Callable[[page_context.PageContext, "ListState"], Awaitable[dict[str, Any]]]


@dataclass(frozen=True)
class ListPage:
    """A list as a page with its CSV file; one with a window starts with the last 30 days, which are no filter.

    Links set the filters `tabs`, one value of each is always chosen; `narrow` returns what they stand for at a time.
    `constants` and `values` are what else the template shows; htmx refreshes its `part`. `sort` is the order unless the
    URL has another. Dates are those of its rows (`row_day`), or what `?by=` names of `days`. `viewer` is who sees it.
    `complete` reads what more its rows have here, where their fields are those of `row`.
    """

    of: List[Any]
    template: str = "list.html"
    part: str = ""
    tabs: Sequence[str] = ()
    narrow: Callable[[ranges.FilterValues, datetime], Mapping[str, Any]] | None = None
    constants: Mapping[str, Any] = field(default_factory=dict)
    values: Values | None = None
    sort: str = ""
    days: Sequence[str] = ()
    row_day: str = "earned"
    viewer: Callable[[Request, Collection[Role]], Awaitable[Any]] = page_context.as_member
    complete: Callable[[Any, "ListState", Page[Any]], Awaitable[Page[Any]]] | None = None
    row: type[Any] | None = None
    limit: int = DEFAULT_LIMIT

    @property
    def choices(self) -> list[tuple[str, str, list[tuple[str, str]]]]:
        """The filters that people set: name, label and options. A few options are chips, more are a menu."""
        return [
            (each.name, each.label, [("true", each.label)] if each.kind is bool else text.pairs(cast("Any", each.kind)))
            for each in self.of.filters
            if each.label
        ]

    async def show(self, request: Request) -> Response:
        """Show the list."""
        return await self.page(await self.viewer(request, ANYONE))

    async def page(self, context: Any, outcome: FormOutcome = NOTHING_SENT) -> Response:
        """Return the page of the list, also after a form of it was sent."""
        state = self.state(context.request)
        state = state._replace(listed=await state.read(context, state.query))
        is_part = self.part and context.request.headers.get("hx-request") == "true"
        more = await self.values(context, state) if self.values else {}
        return outcome.page(context, self.part if is_part else self.template, list=state, **self.constants, **more)

    async def export(self, request: Request) -> Response:
        """Return the filtered list as a CSV file."""
        context = await self.viewer(request, ANYONE)
        state = self.state(request)
        about = f"{self.of.name}-{context.program_id}" if context.program_id else self.of.name
        return csv_file(f"{about}-{context.at:%Y-%m-%d}", _lines(context, state))

    def state(self, request: Request) -> "ListState":
        """Return the state of the list in a request. Raises ValidationError, InvalidPeriod, InvalidRange."""
        at, wanted = time_of(request), self.of
        default = Period.THIRTY_DAYS if wanted.has_window else Period.ALL
        picker = ranges.picker(request, at, default=default, is_valid=True)
        known = {"q", "sort", "by", *(each.name for each in wanted.filters), *self.tabs, *DATES}
        address = ranges.FilterValues({name: sent for name, sent in picker.address.items() if name in known})
        unknown = {"sort": not is_order(wanted, address["sort"]), "by": address["by"] not in self.days}
        address = address.without(*(name for name, is_unknown in unknown.items() if is_unknown))
        sent = {"sort": self.sort, **address.without(*self.tabs if self.narrow else ())}
        more: dict[str, Any] = {"limit": self.limit, "totals": True, "cursor": request.query_params.get("cursor")}
        if picker.window and not wanted.has_window:
            dated = address["by"] or "date"
            more |= {f"{dated}_from": str(picker.window.first), f"{dated}_to": str(picker.window.last)}
        query = query_of(wanted, sent | more)
        of_path = {name: valid_id(sent) for name, sent in request.path_params.items() if name in query.filters}
        filters = {**query.filters, **(self.narrow(address, at) if self.narrow else {}), **of_path}
        return ListState(self, request.url.path, address, query._replace(filters=filters), picker)


class ListState(NamedTuple):
    """A list as a request wants it, and once it is read, its rows."""

    of: ListPage
    path: str
    address: ranges.FilterValues
    query: ListQuery
    picker: ranges.Picker
    listed: Page[Any] = Page([])

    @property
    def narrowing(self) -> list[str]:
        """The parameters that narrow the list."""
        dates = () if self.of.of.has_window else DATES
        names = ["q", *(each.name for each in self.of.of.filters if each.name not in self.of.tabs), *dates]
        return [name for name in names if self.address[name]]

    async def read(self, call: Any, query: ListQuery) -> Page[Any]:
        """Return a page of the list: from the replica, if there is one and the list may lag."""
        wanted, complete = self.of.of, self.of.complete
        read = call.storage.report if wanted.may_lag or wanted.has_window else call.storage.read
        window = (self.picker.window or ALL_DAYS) if wanted.has_window else None
        listed: Page[Any] = await read(find, wanted, call.scope._replace(window=window), query)
        return await complete(call, self, listed) if complete else listed


async def _lines(call: Any, state: ListState) -> AsyncIterator[str]:
    """Yield a list as a CSV file, newest first, a page of rows at a time; amounts are in major units."""
    shown = replace(state.of.of, row=state.of.row) if state.of.row else state.of.of
    currency = call.currency
    fields = [each for each in shown.fields if not each.column.is_internal and not hasattr(each.kind, "_fields")]
    own = any(each.name == "currency" for each in fields)
    last = [] if own or not any(each.is_money for each in fields) else [currency]
    query = state.query._replace(limit=MOST, cursor=None, order=NEWEST_FIRST, has_totals=False)
    yield csv_lines([[*(each.public_name for each in fields), *(["currency"] if last else [])]])
    while True:
        page = await state.read(call, query)
        yield csv_lines([*(_written(row, each, currency) for each in fields), *last] for row in page.data)
        if page.next_cursor is None:
            return
        query = query._replace(cursor=page.next_cursor)


def _written(row: object, field: Field, currency: str) -> str:
    """Return a field as machines read it: amounts in major units of the row's currency or else the program's."""
    value = getattr(row, field.name)
    if value is not None and field.kind in {dict, object}:
        value = json.dumps(value)
    elif value is not None and field.is_money:
        own = currency if field.column.is_program_money else getattr(row, "currency", currency)
        value = text.major(value, own) if own else value
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, int | Decimal | StrEnum):
        return str(value)
    return guarded(" ".join(map(str, value)) if isinstance(value, tuple | list) else str(value or ""))


def csv_file(name: str, lines: AsyncIterator[str] | Iterable[str]) -> Response:
    """Return the response that has a CSV file of this name."""
    headers = {"Content-Disposition": f'attachment; filename="{name}.csv"'}
    return StreamingResponse(lines, media_type="text/csv; charset=utf-8", headers=headers)
