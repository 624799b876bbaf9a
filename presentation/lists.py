"""A list as every surface asks for it by a query string, and its JSON for members and agents."""

from collections.abc import Collection, Mapping
from datetime import date, datetime
from typing import Any, TypeVar, cast

from presentation import queries
from presentation.api_request import ApiRequest
from presentation.operations import ALWAYS as ALWAYS_POSSIBLE
from presentation.operations import PAGING, Description, Operation
from presentation.view import PageView, TotalsView, View, view_of
from storage.lists.declaration import DEFAULT_LIMIT, MOST, MOST_ROWS, List, ListQuery, ListScope, Order, Page
from storage.lists.find import ROWS, find
from storage.rules.errors import InvalidPeriod, InvalidRange, ValidationError
from storage.rules.periods import period, picked_period
from storage.rules.periods.period import ALWAYS, DateRangeQuery, Period, Window
from storage.rules.scope import Scope

ASCENDING, DESCENDING = ".up", ".down"
DATES = ("date_from", "date_to")
ALL_DAYS = Window(date.min, date.max)
Row = TypeVar("Row")


def listing(wanted: List[Any], view: type[View] | None = None, *, tag: str = "dashboard") -> Operation[ApiRequest]:
    """Return the operation that reads a list, for members and agents alike; its description follows from the list."""
    row: Any = wanted.row
    shown = view or view_of(row)
    page: Any = cast("Any", PageView)[shown]

    async def read(call: ApiRequest) -> View:
        sent = call.request.query_params
        query = query_of(wanted, sent)
        scope = ListScope(
            call.program_id, call.at, window_of(wanted, sent, call.at), call.workspace_ids, call.program_ids
        )
        reader = call.storage.report if wanted.may_lag else call.storage.read
        found = visible(wanted, await reader(find, wanted, scope, query), call.scopes)
        totals = {"totals": totals_of(found)} if query.has_totals else {}
        rows: View = page(data=list(map(shown.of, found.data)), next_cursor=found.next_cursor, **totals)
        return rows

    name = "".join(["list", *(word.title() for word in wanted.name.split("-"))])
    dates = (InvalidRange, InvalidPeriod) if wanted.has_window else (InvalidRange,) if wanted.at is not None else ()
    errors = (ValidationError, *dates, *ALWAYS_POSSIBLE)
    query = {**PAGING, **parameters(wanted)}
    return Operation(read, Description(name, wanted.about, {200: (page,)}, errors, query=query, tag=tag))


def parameters(wanted: List[Any]) -> dict[str, str]:
    """Return the parameters of a list besides those of paging, with what each does."""
    names = ", ".join(each.public_name for each in wanted.sorts.values())
    about = {each.name: each.says for each in wanted.filters if not each.is_for_pages}
    if wanted.search is not None or wanted.reader is not None:
        about["q"] = f"Search: {wanted.finds}."
    if names:
        about["sort"] = f"One of {names}: most first, with {ASCENDING} least first; the newest first by default."
    if wanted.has_window:
        about["period"] = f"The period of the figures: {', '.join(Period)}; 30d by default."
    if wanted.has_window or wanted.at is not None:
        about |= {"date_from": "Only from this ISO 8601 date or time on.", "date_to": "Only until it."}
    about["totals"] = f"true: also count and add up all rows that match, unless more than {MOST_ROWS:,} do."
    return about


def query_of(wanted: List[Any], sent: Mapping[str, str]) -> ListQuery:
    """Return what a query string asks of a list. Raises ValidationError, InvalidRange."""
    is_spanned = wanted.at is not None and not wanted.has_window
    return ListQuery(
        queries.number(sent, "limit", least=1, most=MOST) or DEFAULT_LIMIT,
        sent.get("cursor") or None,
        order_of(wanted, sent.get("sort", "")),
        {each.name: queries.value(sent, each.name, each.kind) for each in wanted.filters},
        queries.text(sent, "q"),
        period.span(*(sent.get(name) for name in DATES)) if is_spanned else ALWAYS,
        has_totals=queries.boolean(sent, "totals") or False,
    )


def window_of(wanted: List[Any], sent: Mapping[str, str], at: datetime) -> Window | None:
    """Return the days of a list's figures. Raises InvalidPeriod, InvalidRange."""
    if not wanted.has_window:
        return None
    first, last = (sent.get(name) for name in DATES)
    asked = DateRangeQuery(sent.get("period") or Period.THIRTY_DAYS, first, last)
    return picked_period.pick(asked, at=at).window or ALL_DAYS


def is_order(wanted: List[Any], sent: str) -> bool:
    """Return whether a query string names an order of the list."""
    return _column(sent) in {"", *(each.public_name for each in wanted.sorts.values())}


def order_of(wanted: List[Any], sent: str) -> Order:
    """Return the order that a query string names. Raises ValidationError."""
    names = {"": None} | {each.public_name: each.name for each in wanted.sorts.values()}
    if not is_order(wanted, sent):
        raise queries.wrong("sort", f"One of {', '.join(filter(None, names))}")
    return Order(names[_column(sent)], sent.endswith(ASCENDING))


def _column(sent: str) -> str:
    """Return the column that an order names, empty for the rows' own order, by time."""
    return sent.removesuffix(ASCENDING).removesuffix(DESCENDING).removesuffix("_cents")


def visible(wanted: List[Row], found: Page[Row], scopes: Collection[Scope] | None) -> Page[Row]:
    """Return a page without the fields that a key of these scopes may not see; None is a member, who sees all."""
    if scopes is None:
        return found
    hidden = {each.name: None for each in wanted.fields if each.column.needs and each.column.needs not in scopes}
    return found._replace(data=[cast("Any", row)._replace(**hidden) for row in found.data]) if hidden else found


def totals_of(found: Page[Any]) -> TotalsView | None:
    """Return the totals of a list, None if they would be too many rows."""
    if found.totals is None:
        return None
    sums = {name: total for name, total in found.totals.items() if name != ROWS}
    return TotalsView(rows=found.totals[ROWS], sums=sums, amounts=dict(found.amounts))
