"""POST /api/v1/payments/stripe/:programId: what a program's connected Stripe account reports, by its signature."""

import time
from datetime import datetime
from typing import Literal

from pydantic_core import from_json
from starlette.requests import Request

from presentation.api_request import row_id
from presentation.operations import operation
from presentation.view import View
from storage import Storage
from storage.payments import accounts, processing
from storage.payments.stripe import parse_event
from storage.rules import errors, payment
from web import body
from web.limits import client_of

LARGEST_EVENT = 512 * 1024


class ReceivedEventView(View):
    """The event was received; `outcome` says what it did."""

    received: Literal[True]
    outcome: str
    transaction_id: str | None


@operation(
    *(errors.InvalidSignature, errors.InvalidJson, errors.PayloadTooLarge, errors.UnsupportedMediaType),
    errors.RateLimited,
    tag="payments",
    headers={"Stripe-Signature": "Of the raw body, at most 300 seconds old."},
)
async def receive_stripe_event(request: Request) -> ReceivedEventView:
    """Process an event that a program's connected Stripe account reports, signed by it.

    The response is 200 also for one that is a repeat, that waits, or that says nothing about sales.
    Raises InvalidSignature, alike for a program without an account; InvalidJson for what is no event.
    """
    storage: Storage = request.app.state.storage
    program_id = row_id(request.path_params["program_id"])
    async with request.app.state.limits.guessing(client_of(request.scope)):
        content = bytes(await body.read_body(request.scope, request.receive, largest=LARGEST_EVENT))
        if program_id is None:
            raise errors.InvalidSignature
        try:
            account = await storage.read(accounts.get_account, program_id)
        except errors.NotFound:
            raise errors.InvalidSignature from None
        header, now = request.headers.get("stripe-signature", ""), time.time()
        secrets = map(request.app.state.settings.sealer().open, account.sealed_secrets.splitlines())
        if not any(payment.is_signed(content, header, secret, now=now) for secret in secrets):
            raise errors.InvalidSignature
    at = request.app.state.clock()
    event = event_of(content, at)
    done = await storage.write_in(program_id, processing.process, program_id, event, at=at)
    return ReceivedEventView(received=True, outcome=done.outcome, transaction_id=done.transaction_id)


def event_of(content: bytes, at: datetime) -> payment.ProcessorEvent:
    """Return the event in a body. Raises InvalidJson for anything else."""
    try:
        event = parse_event(from_json(content))
    except ValueError:
        raise errors.InvalidJson("The body is not an event of this processor.") from None
    paid_at = event.content.occurred_at if isinstance(event.content, payment.Paid) else event.occurred_at
    if not all(at - payment.OLDEST <= time <= at + payment.CLOCK_SKEW for time in (event.occurred_at, paid_at)):
        raise errors.InvalidJson("The event, or the payment in it, lies in the future or more than 366 days back.")
    return event
