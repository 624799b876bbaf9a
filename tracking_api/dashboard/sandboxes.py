"""POST /api/programs/:id/sandbox, DELETE .../events, POST .../payment-events, and the page."""

from starlette.responses import Response

from presentation.api_request import ApiRequest
from presentation.operations import operation
from presentation.view import View
from storage.management import sandboxes
from storage.payments import processing
from storage.rules.errors import InvalidJson, NotFound, PayloadTooLarge, UnsupportedMediaType
from tracking_api.dashboard.pages.buttons import Button, FormOutcome, FormPage, Question
from tracking_api.dashboard.pages.page_context import PageContext
from tracking_api.dashboard.program_keys import NewKeyView
from tracking_api.stripe_events import LARGEST_EVENT, ReceivedEventView, event_of
from web import body


class SandboxKeyView(NewKeyView):
    """A sandbox and its new key; only this response shows `api_token`."""

    program_id: int


class SandboxView(View):
    """The sandbox is open."""

    data: SandboxKeyView


@operation()
async def open_sandbox(call: ApiRequest) -> SandboxView:
    """Create the program's sandbox, or give it a new key."""
    program_id, key = await call.write(sandboxes.open_sandbox)
    return SandboxView(data=SandboxKeyView(program_id=program_id, api_token=key.secret, api_token_masked=key.masked))


@operation(NotFound, notice="sandbox-emptied")
async def empty_sandbox(call: ApiRequest) -> None:
    """Delete every event of the program's sandbox; its settings, key and partners stay."""
    await call.write(sandboxes.empty)


@operation(NotFound, InvalidJson, PayloadTooLarge, UnsupportedMediaType, tag="payments")
async def rehearse_payment_event(call: ApiRequest) -> ReceivedEventView:
    """Process an event of the payment processor in the program's sandbox, without its signature."""
    content = bytes(await body.read_body(call.request.scope, call.request.receive, largest=LARGEST_EVENT))
    done = await call.write(processing.process_in_sandbox, event_of(content, call.at))
    return ReceivedEventView(received=True, outcome=done.outcome, transaction_id=done.transaction_id)


async def _page(context: PageContext, outcome: FormOutcome) -> Response:
    return outcome.page(context, "sandbox.html", sandbox_id=await context.read(sandboxes.find))


NEW_KEY = Question("Generate a new sandbox key", "The current key of the sandbox stops working at once.")
PAGE = FormPage(
    _page,
    {
        "open": Button(open_sandbox),
        "renew": Button(open_sandbox, question=NEW_KEY),
        "empty": Button(empty_sandbox, unticked="Tick the box first: deleted events cannot be restored."),
    },
)
