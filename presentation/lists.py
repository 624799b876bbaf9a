"""A list as JSON for members and agents."""

from collections.abc import Collection
from typing import Any, TypeVar, cast

from presentation.api_request import ApiRequest
from presentation.operations import ALWAYS as ALWAYS_POSSIBLE
from presentation.operations import PAGING, Description, Operation
from presentation.queries import ALL_DAYS, ASCENDING, query_of
from presentation.view import PageView, TotalsView, View, view_of
from storage.lists.declaration import MOST_ROWS, List, Page
from storage.lists.find import ROWS, find
from storage.rules.errors import InvalidPeriod, InvalidRange, ValidationError
from storage.rules.periods.period import DateRangeQuery, Period
from storage.rules.periods.picked_period import pick
from storage.rules.scope import Scope

Row = TypeVar("Row")


def listing(
    wanted: List[Any], view: type[View] | None = None, *, tag: str = "dashboard", of: List[Any] | None = None
) -> Operation[ApiRequest]:
    """Return the operation that reads a list, for members and agents alike; its description follows from the list.

    The path of what belongs to a row `of` another list has that row's id.
    """
    row: Any = wanted.row
    shown = view or view_of(row)
    page: Any = cast("Any", PageView)[shown]

    async def read(call: ApiRequest) -> View:
        sent: dict[str, str] = {**call.request.query_params}
        if of is not None:
            await call.get(of, f"{of.one}_id")
            sent |= call.request.path_params
        query = query_of(wanted, sent)
        window = None
        if wanted.has_window:
            asked = DateRangeQuery(sent.get("period") or Period.THIRTY_DAYS, sent.get("date_from"), sent.get("date_to"))
            window = pick(asked, at=call.at).window or ALL_DAYS
        scope = call.scope._replace(window=window)
        reader = call.storage.report if wanted.may_lag else call.storage.read
        found = visible(wanted, await reader(find, wanted, scope, query), call.scopes)
        totals = {"totals": totals_of(found)} if query.has_totals else {}
        rows: View = page(data=list(map(shown.of, found.data)), next_cursor=found.next_cursor, **totals)
        return rows

    name = "".join(["list", *(word.title() for word in wanted.name.split("-"))])
    dates = (InvalidRange, InvalidPeriod) if wanted.has_window else (InvalidRange,) if wanted.at is not None else ()
    errors = (ValidationError, *dates, *ALWAYS_POSSIBLE)
    named = set() if of is None else {f"{of.one}_id"}
    query = {name: says for name, says in {**PAGING, **parameters(wanted)}.items() if name not in named}
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
