"""Walks through a list in both directions."""

from collections.abc import Awaitable, Callable
from typing import Any

from storage.engine.listing import Listed, ListQuery, Order
from tests.world import World

Read = Callable[[ListQuery], Awaitable[Listed[Any]]]


def listed(world: World, operation: Callable[..., Any], *about: Any, **match: Any) -> Read:
    """Return how a page of a list of Acme's program is read."""
    return lambda query: world.store.read(operation, world.program_id, query, *about, **match)


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
