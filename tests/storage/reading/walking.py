"""Walks through a list in both directions, in each of its orders."""

from collections.abc import Awaitable, Callable
from operator import attrgetter
from typing import Any

from storage.engine import listing
from storage.engine.listing import Listed, ListQuery, Order
from tests.world import World

Read = Callable[[ListQuery], Awaitable[Listed[Any]]]
Keys = dict[str | None, Callable[[Any], Any]]


def listed(world: World, operation: Callable[..., Any], *about: Any, **match: Any) -> Read:
    """Return how a page of a list of Acme's program is read."""
    return lambda query: world.store.read(operation, world.program_id, query, *about, **match)


def of(row_id: str = "id", **columns: str) -> Keys:
    """Return what each order of a list sorts by: a field and then the id; nothing comes before something."""
    place = attrgetter(row_id)

    def key(field: str) -> Callable[[Any], Any]:
        def of_row(row: Any) -> Any:
            value = attrgetter(field)(row)
            return value is not None, value.lower() if isinstance(value, str) else value, place(row)

        return of_row

    return {None: place, **{name: key(field) for name, field in columns.items()}}


async def walked(read: Read, order: Order) -> list[Any]:
    """Return all rows by pages of two, and check that the way back shows the same pages."""
    pages = [await read(ListQuery(2, order=order))]
    while pages[-1].next_cursor:
        pages.append(await read(ListQuery(2, pages[-1].next_cursor, order)))
    back = [pages[-1]]
    while back[0].previous_cursor:
        back.insert(0, await read(ListQuery(2, back[0].previous_cursor, order)))
    assert [page.data for page in back] == [page.data for page in pages]
    assert (back[0].next_cursor is None) == (len(pages) == 1)
    return [row for page in pages for row in page.data]


async def require_each_order(lists: dict[Read, Keys]) -> None:
    """Assert that each order of each list shows every row once, forwards and backwards."""
    for read, columns in lists.items():
        for order in (Order(column, is_ascending) for column in columns for is_ascending in (True, False)):
            rows = await walked(read, order)

            assert len({str(row) for row in rows}) == len(rows) > 1
            assert rows == sorted(rows, key=columns[order.column], reverse=not order.is_ascending), order
            assert (await read(ListQuery(order=order))).order == order
        totals = (await read(ListQuery())).totals
        assert totals is None or totals[listing.ROWS] == len(rows)
