"""The grammar of list pages: what a list can be searched, filtered and sorted by, and its state, which the URL holds.

`?q=` searches, `?sort=revenue` sorts with the most first and `?sort=revenue.up` with the least, `?cursor=` pages, and a
list's own filters narrow it, as does the date picker. templates/lists.html draws it.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, NamedTuple, cast

from starlette.requests import Request
from starlette.responses import Response

from presentation import queries
from presentation.lists import ALL_DAYS, ASCENDING, order_of
from storage.lists.declaration import MOST, MOST_ROWS, NEWEST_FIRST, Field, List, ListQuery, ListScope, Order, Page
from storage.lists.find import find
from storage.rules.periods.period import ALWAYS, Span
from storage.rules.periods.picked_period import Picked, PickedPeriod
from tracking_api.dashboard.authentication import storage_of, time_of
from tracking_api.dashboard.pages import csv_export, filters, page_context, ranges, templates, text
from tracking_api.dashboard.pages.filters import FilterValues
from tracking_api.dashboard.pages.page_context import PageContext
from tracking_api.dashboard.pages.ranges import Picker

DATES = ("period", *ranges.DATES)
Values = Callable[[Request, PageContext, "ListState"], Awaitable[dict[str, Any]]]


class Heading(NamedTuple):
    """A column: its name and title, and by which name it sorts (None: it does not; empty: by time).

    A figure is on the right. `total` says how its column is added up: as money or as a number, or as amounts, one for
    each currency.
    """

    name: str
    title: str
    kind: str
    sort: str | None
    is_figure: bool
    total: str

    @property
    def is_time(self) -> bool:
        """Whether its title says in which time zone it is."""
        return self.kind == "timestamp"

    @property
    def ways(self) -> dict[str, str]:
        """The two directions of its order, and their names."""
        words = ("latest first", "earliest first") if self.kind in {"day", "timestamp"} else ("Z to A", "A to Z")
        down, up = ("most first", "least first") if self.is_figure else words
        return {"": down, ASCENDING: up}


@dataclass(frozen=True)
class ListPage:
    """A list as a page with its CSV file.

    The page sets the filters `kept` and `tabs` by links; one of a tab's values is always chosen. `narrow` returns the
    filters of a tab's values at a time; `values` what else the template shows. A list with a window starts with the
    last 30 days, which are no filter.
    """

    of: List[Any]
    template: str = "list.html"
    kept: Sequence[str] = ()
    tabs: Sequence[str] = ()
    narrow: Callable[[FilterValues, datetime], Mapping[str, Any]] | None = None
    values: Values | None = None

    @property
    def columns(self) -> list[Heading]:
        """The columns of the list."""
        return [_column(self.of, each) for each in self.of.columns]

    @property
    def choices(self) -> list[tuple[str, str, list[tuple[str, str]]]]:
        """The filters in the form: name, label and options."""
        return [
            (each.name, each.label, text.pairs(cast("type[StrEnum]", each.kind)))
            for each in self.of.filters
            if each.label
        ]

    @property
    def orders(self) -> list[tuple[str, str]]:
        """Every order of the list with its name, for a menu."""
        named = [each for each in self.columns if each.sort]
        both = [(f"{each.sort}{way}", f"{each.title}, {word}") for each in named for way, word in each.ways.items()]
        return [("", "Newest first"), (ASCENDING, "Oldest first"), *both]

    @property
    def period(self) -> PickedPeriod:
        """The period that it starts with."""
        return PickedPeriod.THIRTY_DAYS if self.of.has_window else PickedPeriod.ALL

    async def show(self, request: Request) -> Response:
        """Show the list."""
        context = await page_context.as_member(request)
        state = await self.read(request, context)
        return templates.render(request, self.template, context=context, **await self.shown(request, context, state))

    async def export(self, request: Request) -> Response:
        """Return the filtered list as a CSV file."""
        context = await page_context.as_member(request)
        state = self.state(request)
        name, read = f"{self.of.name}-{context.program.id}-{context.at:%Y-%m-%d}", state.reader(request, context.scope)
        return csv_export.file(name, self.of, lambda cursor: read(state.exported(cursor)), currency=context.currency)

    async def read(self, request: Request, context: PageContext) -> "ListState":
        """Return the list's state with the rows of its page."""
        state = self.state(request)
        return state.holding(await state.reader(request, context.scope)(state.query))

    async def shown(self, request: Request, context: PageContext, state: "ListState") -> dict[str, Any]:
        """Return what the template shows of the list."""
        return {"list": state, **(await self.values(request, context, state) if self.values else {})}

    def state(self, request: Request) -> "ListState":
        """Return the state of the list in a request. Raises ValidationError, InvalidPeriod, InvalidRange."""
        picker = ranges.valid_picker(request, time_of(request), default=self.period)
        own = (each.name for each in self.of.filters)
        address = filters.chosen(request, "q", "sort", *dict.fromkeys((*own, *self.kept, *self.tabs)), *DATES)
        return ListState(
            of=self,
            path=request.url.path,
            address=address,
            order=order_of(self.of, address["sort"]),
            cursor=request.query_params.get("cursor") or None,
            filters=self._filters(address, time_of(request)),
            search=queries.text(address, "q"),
            picked=picker.picked,
            picker=picker,
        )

    def _filters(self, address: FilterValues, at: datetime) -> dict[str, Any]:
        tabs = self.narrow(address, at) if self.narrow else {}
        own = [each for each in self.of.filters if self.narrow is None or each.name not in self.tabs]
        return {**{each.name: queries.value(address, each.name, each.kind) for each in own}, **tabs}


class ListState(NamedTuple):
    """A list as a request wants it, and once it is read, its rows."""

    of: ListPage
    path: str
    address: FilterValues
    order: Order
    cursor: str | None
    filters: Mapping[str, Any]
    search: str | None
    picked: Picked
    picker: Picker
    listed: Page[Any] = Page([])
    most: int = MOST_ROWS

    @property
    def span(self) -> Span:
        """The timestamps that the date picker leaves."""
        is_filter = self.picked.window is not None and not self.of.of.has_window
        return self.picked.window.span if is_filter and self.picked.window else ALWAYS

    @property
    def query(self) -> ListQuery:
        """The page that storage reads."""
        return ListQuery(
            cursor=self.cursor,
            order=self.order,
            filters=self.filters,
            search=self.search,
            span=self.span,
            has_totals=True,
        )

    def exported(self, cursor: str | None) -> ListQuery:
        """Return the page of the list's file that begins at a cursor."""
        return self.query._replace(limit=MOST, cursor=cursor, order=NEWEST_FIRST, has_totals=False)

    @property
    def narrowing(self) -> list[str]:
        """The parameters that narrow the list."""
        dates = () if self.of.of.has_window else DATES
        names = ["q", *(each.name for each in self.of.of.filters if each.name not in self.of.tabs), *dates]
        return [name for name in names if self.address[name]]

    def reader(self, request: Request, scope: ListScope) -> Callable[[ListQuery], Awaitable[Page[Any]]]:
        """Return how a page of the list is read: from the replica, if there is one and the list may lag."""
        storage, wanted = storage_of(request), self.of.of
        read = storage.report if wanted.may_lag or wanted.has_window else storage.read
        within = scope._replace(window=(self.picked.window or ALL_DAYS) if wanted.has_window else None)
        return lambda query: read(find, wanted, within, query)

    def sort_link(self, column: Heading) -> str:
        """Return the link that sorts by a column, most first, or turns its order round."""
        turns = self.direction(column) == "descending"
        return self.address.link(sort=f"{column.sort}{ASCENDING if turns else ''}")

    def direction(self, column: Heading) -> str:
        """Return how the list is sorted by a column: ascending, descending, or not at all."""
        order = self.listed.order
        is_sorted = column.sort is not None and order.column == (column.name if column.sort else None)
        return ("ascending" if order.is_ascending else "descending") if is_sorted else "none"

    def holding(self, listed: Page[Any]) -> "ListState":
        """Return this state with the rows that storage read."""
        return self._replace(listed=listed)


def _column(wanted: List[Any], field: Field) -> Heading:
    total = ("money" if field.is_money else "number") if field.column.is_summed else ""
    if total and field.name == "amount_cents":
        total = "amounts"
    if field.kind is datetime:
        kind = "day" if field.column.is_day else "timestamp"
    else:
        kind = "money" if field.is_money else "number" if field.is_figure else "badge" if field.is_choice else "text"
    return Heading(field.name, field.column.title, kind, wanted.sort_of(field), field.is_figure, total)
