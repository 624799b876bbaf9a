"""Rejected calls: grouped by cause with what to do and the latest of each, or as a list of those that match."""

from typing import Any

from starlette.requests import Request

from storage.lists import rejected_calls
from storage.lists.rejected_calls import REJECTED_CALLS
from storage.rules import errors
from tracking_api.dashboard.authentication import storage_of
from tracking_api.dashboard.pages.lists import ListPage, ListState
from tracking_api.dashboard.pages.page_context import PageContext

EXAMPLES = 5


async def _causes(request: Request, context: PageContext, state: ListState) -> dict[str, Any]:
    """Return every cause with its latest calls; the page shows them without a search and a period."""
    read, code = storage_of(request).report, state.filters["code"]
    grouped = await read(rejected_calls.grouped, context.scope, limit=EXAMPLES, code=code)
    groups = [
        (cause, errors.BY_CODE.get(cause.code), state.holding(calls), calls.next_cursor is not None)
        for cause, calls in grouped
    ]
    return {"groups": groups, "code": code}


REJECTED_CALL_LIST = ListPage(REJECTED_CALLS, "refused_calls.html", values=_causes)
