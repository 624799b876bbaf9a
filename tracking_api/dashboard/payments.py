""".../payment-account and PATCH .../payment-events/:eventId: owners connect an account and decide on payments."""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import StringConstraints

from presentation.actions import action
from presentation.api_request import ApiRequest
from presentation.operations import operation
from presentation.view import SUCCESS, SuccessView, View
from storage.payments import accounts, decisions
from storage.payments.decisions import Decision, NamedCustomer
from storage.rules.errors import (
    AttributionWindowExpired,
    CurrencyNotSupported,
    CustomerNotAttributed,
    CustomerNotFound,
    DuplicateTransaction,
    NotFound,
    SaleBeforeClick,
    TransactionNotFound,
)
from web.body import Body, Identifier
from web.response import ModelResponse


class NewPaymentAccount(Body):
    """An account to connect; `webhook_secret` is the signing secret of its webhook, `whsec_...`."""

    provider: Literal["stripe"]
    account_id: Identifier
    webhook_secret: Annotated[str, StringConstraints(min_length=8, max_length=255, pattern=r"^[!-~]+$")]


class PaymentAccountView(View):
    """A connected payment account; `webhook_secrets` is the number of accepted secrets, two while you change it."""

    provider: Literal["stripe"]
    account_id: str
    connected_at: datetime
    webhook_secrets: int
    webhook_url: str


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


@action(
    "Connect a payment account, or roll its webhook secret over",
    notice="account-connected",
    tag="payments",
)
async def connect_payment_account(call: ApiRequest, sent: NewPaymentAccount) -> ModelResponse[PaymentAccountView]:
    """Connect an account, or add a webhook secret; the previous one stays valid."""
    sealer = call.request.app.state.settings.sealer()
    connecting = {"provider": sent.provider, "account_id": sent.account_id, "secret": sent.webhook_secret}
    return _response(call, await call.write(accounts.connect, **connecting, sealer=sealer))


@operation("The connected payment account; never its secrets", NotFound, tag="payments")
async def get_payment_account(call: ApiRequest) -> ModelResponse[PaymentAccountView]:
    """Return the connected account. Raises NotFound."""
    return _response(call, await call.read(accounts.get_account))


@action(
    "Disconnect the payment account; its recorded sales and refunds stay",
    NotFound,
    notice="account-disconnected",
    tag="payments",
)
async def disconnect_payment_account(call: ApiRequest) -> ModelResponse[SuccessView]:
    """Disconnect the account. Raises NotFound."""
    await call.write(accounts.disconnect)
    return ModelResponse(SUCCESS)


@action(
    "Decide on a payment that is held as a possible duplicate, or on a payment or refund that waits",
    *(CustomerNotFound, DuplicateTransaction, CustomerNotAttributed, AttributionWindowExpired),
    *(CurrencyNotSupported, SaleBeforeClick, TransactionNotFound),
    tag="payments",
)
async def decide_payment_event(call: ApiRequest, sent: PaymentDecision) -> ModelResponse[PaymentDecidedView]:
    """Decide on a payment that does not count. Raises NotFound and the errors of a sale."""
    about = {"customer": NamedCustomer(sent.click_id, sent.customer_key), "transaction_id": sent.transaction_id}
    outcome = await call.write(decisions.decide, call.path_id("event_id"), sent.decision, **about)
    return ModelResponse(PaymentDecidedView(success=True, outcome=outcome))


def _response(call: ApiRequest, account: accounts.PaymentAccount) -> ModelResponse[PaymentAccountView]:
    webhook_url = f"{call.base_url}/api/v1/payments/{account.provider}/{account.program_id}"
    shown = account._asdict() | {"webhook_secrets": len(account.sealed), "webhook_url": webhook_url}
    return ModelResponse(PaymentAccountView.of(shown))
