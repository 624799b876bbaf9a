"""GET /api/programs/:id/payment-events and PATCH .../:eventId: list payment events, decide on held ones."""

from datetime import datetime

from presentation import queries
from presentation.api_request import ApiRequest
from presentation.operations import operation
from presentation.view import PageView, SuccessView, View, page
from storage.payments import decisions, received_events
from storage.payments.decisions import Decision
from storage.rules.errors import (
    AttributionWindowExpired,
    CurrencyNotSupported,
    CustomerNotAttributed,
    DuplicateTransaction,
    SaleBeforeClick,
)
from web.body import Body
from web.response import ModelResponse

OUTCOME = {"outcome": "recorded, repeated, waiting, held_as_duplicate, ignored, test, or an error code."}


class PaymentDecision(Body):
    """The decision on a held payment: a separate sale (count), or the sale that the API reported (same)."""

    decision: Decision


class PaymentEventView(View):
    """An event of the payment account; amounts are in minor units of `currency`, null if the event has no amount.

    `is_test`: of the processor's test mode; it is recorded as a test, and earns nothing.
    """

    id: int
    event_id: str
    type: str
    outcome: str
    transaction_id: str | None
    waits_for: str | None
    amount_cents: int | None
    currency: str | None
    is_test: bool
    occurred_at: datetime
    received_at: datetime


@operation(
    "The events of the payment account and their outcomes, possible duplicates included",
    query=OUTCOME,
    tag="payments",
)
async def list_payment_events(call: ApiRequest) -> ModelResponse[PageView[PaymentEventView]]:
    """List the program's payment events; `?outcome=` narrows it."""
    outcome = queries.text(call.request, "outcome")
    events = await call.read(received_events.list_events, queries.paging(call.request), outcome=outcome)
    return page(events, PaymentEventView)


@operation(
    "Decide on a payment that is held as a possible duplicate",
    *(DuplicateTransaction, CustomerNotAttributed, AttributionWindowExpired, CurrencyNotSupported, SaleBeforeClick),
    body=PaymentDecision,
    tag="payments",
)
async def decide_payment_event(call: ApiRequest) -> ModelResponse[SuccessView]:
    """Decide on a payment that is held as a possible duplicate. Raises NotFound, DuplicateTransaction."""
    event_id = call.path_id("event_id")
    sent = await call.parse(PaymentDecision)
    await call.write(decisions.decide, event_id, sent.decision)
    return ModelResponse(SuccessView(success=True))
