"""GET /api/programs/:id/payment-events and PATCH .../:eventId: list events, decide on those that do not count."""

from presentation.api_request import ApiRequest
from presentation.operations import operation
from presentation.view import SuccessView
from storage.payments import decisions
from storage.payments.decisions import Decision, NamedCustomer
from storage.rules.errors import (
    AttributionWindowExpired,
    CurrencyNotSupported,
    CustomerNotAttributed,
    CustomerNotFound,
    DuplicateTransaction,
    SaleBeforeClick,
    TransactionNotFound,
)
from web.body import Body, Identifier
from web.response import ModelResponse


class PaymentDecision(Body):
    """The decision on a held payment: a separate sale (count), or the sale that the API reported (same).

    On a payment that waits or was rejected: try again (retry), for the customer with `customer_key` or `click_id` if
    you name one, or never list this customer's payments again (dismiss), since no partner sent them.

    On a refund or a dispute that waits, because the account did not report its payment: refund the sale with
    `transaction_id` (refund), or dismiss it.
    """

    decision: Decision
    customer_key: Identifier | None = None
    click_id: Identifier | None = None
    transaction_id: Identifier | None = None


class PaymentDecidedView(SuccessView):
    """The decision is made; `outcome` is the event's new one."""

    outcome: str


@operation(
    "Decide on a payment that is held as a possible duplicate, or on a payment or refund that waits",
    *(
        CustomerNotFound,
        DuplicateTransaction,
        CustomerNotAttributed,
        AttributionWindowExpired,
        CurrencyNotSupported,
        SaleBeforeClick,
        TransactionNotFound,
    ),
    body=PaymentDecision,
    tag="payments",
)
async def decide_payment_event(call: ApiRequest) -> ModelResponse[PaymentDecidedView]:
    """Decide on a payment that does not count. Raises NotFound and the errors of a sale."""
    event_id = call.path_id("event_id")
    sent = await call.parse(PaymentDecision)
    customer = NamedCustomer(sent.click_id, sent.customer_key)
    about = {"customer": customer, "transaction_id": sent.transaction_id}
    outcome = await call.write(decisions.decide, event_id, sent.decision, **about)
    return ModelResponse(PaymentDecidedView(success=True, outcome=outcome))
