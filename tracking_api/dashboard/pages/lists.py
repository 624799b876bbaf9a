"""The grammar of lists: what a list can be searched, filtered and sorted by, and its state, which the URL holds.

`?q=` searches, `?sort=revenue` sorts with the most first and `?sort=revenue.up` with the least, `?cursor=` pages, and a
list's own filters narrow it, as does the date picker. templates/lists.html draws it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from starlette.requests import Request

from storage.engine.listing import MOST_ROWS, Listed, ListQuery, Order
from storage.rules.errors import FieldError, ValidationError
from storage.rules.periods.period import ALWAYS, Span
from storage.rules.periods.picked_period import Picked, PickedPeriod
from tracking_api.dashboard.authentication import time_of
from tracking_api.dashboard.pages import filters, ranges
from tracking_api.dashboard.pages.filters import FilterValues
from tracking_api.dashboard.pages.ranges import Picker

ASCENDING = ".up"
DATES = ("period", *ranges.DATES)


class Column(NamedTuple):
    """A column: its name and title, and by which order of storage it sorts (None: it does not; empty: by time).

    A figure is on the right. `total` says how its column is added up: in the storage's total of the same order, as
    money or as a number, or as amounts, one for each currency.
    """

    name: str
    title: str
    sort: str | None = None
    is_figure: bool = False
    total: str = ""
    is_time: bool = False
    is_day: bool = False

    @property
    def ways(self) -> dict[str, str]:
        """The two directions of its order, and their names."""
        text = ("latest first", "earliest first") if self.is_day else ("Z to A", "A to Z")
        down, up = ("most first", "least first") if self.is_figure else text
        return {"": down, ASCENDING: up}


class Choice(NamedTuple):
    """A filter that is one of some words: its name, its label, and its options."""

    name: str
    label: str
    options: Sequence[tuple[str, str]]


@dataclass(frozen=True)
class List:
    """What a list has: its columns, the first of which names the row, and what narrows it.

    The page sets the filters `kept` and `tabs` by links; one of a tab's values is always chosen. With `period` there is
    a date picker; unless that is all time at first, it is the period of the figures and no filter.
    """

    title: str
    columns: Sequence[Column]
    search: str = ""
    choices: Sequence[Choice] = ()
    kept: Sequence[str] = ()
    tabs: Sequence[str] = ()
    period: PickedPeriod | None = PickedPeriod.ALL

    @property
    def orders(self) -> list[tuple[str, str]]:
        """Every order of the list with its name, for a menu."""
        named = [each for each in self.columns if each.sort]
        both = [(f"{each.sort}{way}", f"{each.title}, {word}") for each in named for way, word in each.ways.items()]
        return [("", "Newest first"), (ASCENDING, "Oldest first"), *both]


class ListState(NamedTuple):
    """A list as a request wants it, and once it is read, its rows."""

    of: List
    path: str
    address: FilterValues
    order: Order
    cursor: str | None
    picked: Picked | None
    picker: Picker | None
    listed: Listed[Any] = Listed([])
    most: int = MOST_ROWS

    @property
    def search(self) -> str | None:
        """The text that was searched for."""
        return self.address["q"] or None

    @property
    def span(self) -> Span:
        """The timestamps that the date picker leaves."""
        return self.picked.window.span if self.picked and self.picked.window else ALWAYS

    @property
    def query(self) -> ListQuery:
        """The page that storage reads."""
        return ListQuery(cursor=self.cursor, order=self.order)

    @property
    def narrowing(self) -> list[str]:
        """The parameters that narrow the list."""
        dates = DATES if self.of.period == PickedPeriod.ALL else ()
        names = ["q", *(each.name for each in self.of.choices), *self.of.kept, *dates]
        return [name for name in names if self.address[name]]

    def sort_link(self, column: Column) -> str:
        """Return the link that sorts by a column, most first, or turns its order round."""
        turns = self.direction(column) == "descending"
        return self.address.link(sort=f"{column.sort}{ASCENDING if turns else ''}")

    def direction(self, column: Column) -> str:
        """Return how the list is sorted by a column: ascending, descending, or not at all."""
        order = self.listed.order
        is_sorted = column.sort is not None and order.column == (column.sort or None)
        return ("ascending" if order.is_ascending else "descending") if is_sorted else "none"

    def holding(self, listed: Listed[Any]) -> "ListState":
        """Return this state with the rows that storage read."""
        return self._replace(listed=listed)


def state(request: Request, wanted: List) -> ListState:
    """Return the state of a list in a request. Raises ValidationError, InvalidPeriod, InvalidRange."""
    picked = ranges.requested(request, time_of(request), default=wanted.period) if wanted.period else None
    filters.text(request, "q")
    names = (
        "q",
        "sort",
        *(each.name for each in wanted.choices),
        *wanted.kept,
        *wanted.tabs,
        *(DATES if wanted.period else ()),
    )
    return ListState(
        of=wanted,
        path=request.url.path,
        address=filters.chosen(request, *names),
        order=_order(request.query_params.get("sort", ""), wanted),
        cursor=request.query_params.get("cursor") or None,
        picked=picked,
        picker=ranges.picker(request, picked, default=wanted.period) if picked and wanted.period else None,
    )


def _order(sent: str, wanted: List) -> Order:
    column, names = sent.removesuffix(ASCENDING), [each.sort for each in wanted.columns if each.sort]
    if column and column not in names:
        raise ValidationError(fields=[FieldError("sort", f"One of {', '.join(names)}")])
    return Order(column or None, sent.endswith(ASCENDING))
