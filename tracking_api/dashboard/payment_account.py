"""PUT, GET and DELETE /api/programs/:id/payment-account: owners connect a payment account; no secret is shown again."""

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import BaseModel, StringConstraints
from starlette.requests import Request

from storage.payments import accounts
from tracking_api.dashboard import authentication
from tracking_api.dashboard.authentication import storage_of, time_of
from web import body
from web.body import Body, Identifier
from web.response import JsonResponse


class NewPaymentAccount(Body):
    """An account to connect; `webhook_secret` is the signing secret of its webhook, `whsec_...`."""

    provider: Literal["stripe"]
    account_id: Identifier
    webhook_secret: Annotated[str, StringConstraints(min_length=8, max_length=255, pattern=r"^[!-~]+$")]


class PaymentAccount(BaseModel):
    """A connected payment account; `webhook_secrets` says how many are accepted: two during a roll-over."""

    provider: Literal["stripe"]
    account_id: str
    connected_at: datetime
    webhook_secrets: int
    webhook_url: str


async def connect(request: Request) -> JsonResponse:
    """Connect an account, or add a webhook secret beside the one before."""
    owner = await authentication.owner(request)
    sent = body.parse(NewPaymentAccount, await body.read_body(request.scope, request.receive))
    account = await storage_of(request).write(
        accounts.connect,
        owner.program_id,
        provider=sent.provider,
        account_id=sent.account_id,
        secret=sent.webhook_secret,
        sealer=request.app.state.settings.sealer(),
        actor=owner.actor,
        at=time_of(request),
        lane=owner.program_id,
    )
    return JsonResponse(_shown(request, account))


async def show(request: Request) -> JsonResponse:
    """Show the account that is connected. Raises NotFound."""
    owner = await authentication.owner(request)
    return JsonResponse(_shown(request, await storage_of(request).read(accounts.get_account, owner.program_id)))


async def disconnect(request: Request) -> JsonResponse:
    """Disconnect the account. Raises NotFound."""
    owner = await authentication.owner(request)
    await storage_of(request).write(
        accounts.disconnect, owner.program_id, actor=owner.actor, at=time_of(request), lane=owner.program_id
    )
    return JsonResponse({"success": True})


def _shown(request: Request, account: accounts.PaymentAccount) -> dict[str, Any]:
    base_url = request.app.state.settings.base_url
    return {
        "provider": account.provider,
        "account_id": account.account_id,
        "connected_at": account.connected_at,
        "webhook_secrets": len(account.sealed),
        "webhook_url": f"{base_url}/api/v1/payments/{account.provider}/{account.program_id}",
    }
