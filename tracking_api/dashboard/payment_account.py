"""PUT, GET and DELETE /api/programs/:id/payment-account: owners connect a payment account; no secret is shown again."""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import StringConstraints

from presentation.api_request import ApiRequest
from presentation.operations import operation
from presentation.view import SUCCESS, SuccessView, View
from storage.payments import accounts
from storage.rules.errors import NotFound
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


@operation("Connect a payment account, or roll its webhook secret over", body=NewPaymentAccount, tag="payments")
async def connect_payment_account(call: ApiRequest) -> ModelResponse[PaymentAccountView]:
    """Connect an account, or add a webhook secret; the previous one stays valid."""
    sent = await call.parse(NewPaymentAccount)
    sealer = call.request.app.state.settings.sealer()
    connecting = {"provider": sent.provider, "account_id": sent.account_id, "secret": sent.webhook_secret}
    return _response(call, await call.write(accounts.connect, **connecting, sealer=sealer))


@operation("The connected payment account; never its secrets", NotFound, tag="payments")
async def get_payment_account(call: ApiRequest) -> ModelResponse[PaymentAccountView]:
    """Return the connected account. Raises NotFound."""
    return _response(call, await call.read(accounts.get_account))


@operation("Disconnect the payment account; its recorded sales and refunds stay", NotFound, tag="payments")
async def disconnect_payment_account(call: ApiRequest) -> ModelResponse[SuccessView]:
    """Disconnect the account. Raises NotFound."""
    await call.write(accounts.disconnect)
    return ModelResponse(SUCCESS)


def _response(call: ApiRequest, account: accounts.PaymentAccount) -> ModelResponse[PaymentAccountView]:
    base_url = call.request.app.state.settings.base_url
    webhook_url = f"{base_url}/api/v1/payments/{account.provider}/{account.program_id}"
    shown = account._asdict() | {"webhook_secrets": len(account.sealed), "webhook_url": webhook_url}
    return ModelResponse(PaymentAccountView.of(shown))
