"""The feed of what changed in a program, for members and agents."""

from presentation import queries
from presentation.api_request import ApiRequest
from presentation.operations import PAGING, operation
from storage.lists.declaration import DEFAULT_LIMIT, MOST
from storage.reports.changes import FeedPage, read_changes
from storage.rules.errors import CursorExpired


@operation(CursorExpired, query=PAGING)
async def get_changes(call: ApiRequest) -> FeedPage:
    """Return what changed since a cursor, in the order of the commits."""
    sent = call.request.query_params
    limit = queries.number(sent, "limit", least=1, most=MOST) or DEFAULT_LIMIT
    return await call.read(read_changes, cursor=sent.get("cursor"), limit=limit, at=call.at)
