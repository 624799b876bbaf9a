"""GET /programs/:id/refused-calls: keyed calls that were rejected in the last 30 days, and why."""

from presentation import queries
from presentation.api_request import ApiRequest
from presentation.operations import operation
from presentation.resources import RefusedCallView
from presentation.view import PageView, page
from storage.reading import rejected_calls
from web.response import ModelResponse


@operation("Keyed calls that were rejected in the last 30 days", query={"code": "Only with this error code."})
async def list_refused_calls(call: ApiRequest) -> ModelResponse[PageView[RefusedCallView]]:
    """List the program's rejected calls; `?code=` narrows it."""
    code = queries.text(call.request, "code")
    return page(await call.report(rejected_calls.list_calls, queries.paging(call.request), code=code), RefusedCallView)
