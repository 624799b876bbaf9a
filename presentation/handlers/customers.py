"""GET /programs/:id/customers/:customerId."""

from presentation.api_request import ApiRequest
from presentation.operations import operation
from presentation.resources import CustomerTimelineView
from storage.lists import timelines
from storage.lists.declaration import ListScope
from web.response import ModelResponse


@operation("One customer with their timeline: click, lead, sales, refunds and commissions")
async def get_customer(call: ApiRequest) -> ModelResponse[CustomerTimelineView]:
    """Return one customer with their timeline."""
    scope = ListScope(call.program_id, call.at)
    timeline = await call.storage.report(timelines.get_timeline, scope, call.path_id("customer_id"))
    return ModelResponse(CustomerTimelineView.timeline(timeline))
