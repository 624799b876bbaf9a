"""GET /programs/:id/tracking-log: what each test-mode call was, newest first."""

from presentation import queries
from presentation.api_request import ApiRequest
from presentation.operations import operation
from presentation.resources import LogEntryView
from presentation.view import PageView, page
from storage.reading import tracking_log
from web.response import ModelResponse


@operation("The log of test-mode calls")
async def list_tracking_log(call: ApiRequest) -> ModelResponse[PageView[LogEntryView]]:
    """List the program's tracking log."""
    return page(await call.report(tracking_log.list_entries, queries.paging(call.request)), LogEntryView)
