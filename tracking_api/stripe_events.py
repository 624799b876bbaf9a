"""What a payment processor reports: Stripe's events, signed or rehearsed in a sandbox, and an export to compare."""

import time
from datetime import datetime
from decimal import Decimal
from typing import Annotated, Literal

from pydantic import AwareDatetime, Field, StringConstraints
from pydantic_core import from_json
from starlette.requests import Request

from presentation.api_request import ApiRequest, row_id
from presentation.operations import operation
from presentation.view import View
from storage import Storage
from storage.management import referrals
from storage.payments import accounts, processing, reconciliation, stripe
from storage.rules import errors, payment
from storage.rules.reconciliation import Payment
from storage.tracking import currencies
from web import body, limits

LARGEST_EVENT = 512 * 1024
MOST_PAYMENTS = 1000
LARGEST_EXPORT = 1024 * 1024
LARGEST_CENTS = 10**12
Amount = Annotated[str, StringConstraints(pattern=r"^[0-9]{1,15}(\.[0-9]{1,6})?$")]


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

    A repeat, or one that says nothing about sales, is 200. A program without an account is InvalidSignature, too.
    """
    storage: Storage = request.app.state.storage
    program_id = row_id(request.path_params["program_id"])
    async with request.app.state.limits.guessing(limits.client_of(request.scope)):
        content = bytes(await body.read_body(request.scope, request.receive, largest=LARGEST_EVENT))
        account = await storage.read(accounts.find_account, program_id) if program_id else None
        if program_id is None or account is None:
            raise errors.InvalidSignature
        header, now = request.headers.get("stripe-signature", ""), time.time()
        secrets = map(request.app.state.settings.sealer().open, account.sealed_secrets.splitlines())
        if not any(payment.is_signed(content, header, secret, now=now) for secret in secrets):
            raise errors.InvalidSignature
    at = request.app.state.clock()
    event = _event(request, content, at)
    done = await storage.write_in(program_id, processing.process, program_id, event, at=at)
    return ReceivedEventView(received=True, outcome=done.outcome, transaction_id=done.transaction_id)


@operation(errors.NotFound, errors.InvalidJson, errors.PayloadTooLarge, errors.UnsupportedMediaType, tag="payments")
async def rehearse_payment_event(call: ApiRequest) -> ReceivedEventView:
    """Process an event of the payment processor in the program's sandbox, without its signature."""
    content = bytes(await body.read_body(call.request.scope, call.request.receive, largest=LARGEST_EVENT))
    done = await call.write(processing.process_in_sandbox, _event(call.request, content, call.at))
    return ReceivedEventView(received=True, outcome=done.outcome, transaction_id=done.transaction_id)


def _event(request: Request, content: bytes, at: datetime) -> payment.ProcessorEvent:
    """Return the event in a body, with the click of its referral token. Raises InvalidJson for anything else."""
    try:
        event = stripe.parse_event(from_json(content))
    except ValueError:
        raise errors.InvalidJson("The body is not an event of this processor.") from None
    paid_at = event.content.occurred_at if isinstance(event.content, payment.Paid) else event.occurred_at
    if not all(at - payment.OLDEST <= time <= at + payment.CLOCK_SKEW for time in (event.occurred_at, paid_at)):
        raise errors.InvalidJson("The event, or the payment in it, lies in the future or more than 366 days back.")
    if isinstance(event.content, payment.Paid | payment.Introduced):
        click_id = referrals.click_of(event.content.click_id, request.app.state.sealer)
        event = event._replace(content=event.content._replace(click_id=click_id))
    return event


class ExportedPayment(body.Body):
    """A payment of the export: amounts are in major units, as in the export; `line` is its line there.

    `names` are the processor's ids of it, the one that its sale is recorded under first.
    """

    line: Annotated[int, Field(ge=1, le=2**31)]
    names: Annotated[list[body.Identifier], Field(min_length=1, max_length=5)]
    amount: Amount
    returned: Amount = "0"
    currency: body.Currency
    occurred_at: AwareDatetime
    customer_key: body.Identifier | None = None
    click_id: body.Identifier | None = None
    processor_customer: body.Identifier | None = None


class Export(body.Body):
    """A part of an export; a customer's payments that are close in time belong in one part."""

    payments: Annotated[list[ExportedPayment], Field(min_length=1, max_length=MOST_PAYMENTS)]


@operation(largest=LARGEST_EXPORT, tag="payments")
async def reconcile_payments(call: ApiRequest, sent: Export) -> reconciliation.Reconciliation:
    """Compare payments of the processor's export with the sales, and get the calls that correct differences."""
    return await call.read(reconciliation.compare, [_payment(call, each) for each in sent.payments], at=call.at)


def _payment(call: ApiRequest, sent: ExportedPayment) -> Payment:
    cents, returned = (_cents(sent, name) for name in ("amount", "returned"))
    click_id = referrals.click_of(sent.click_id, call.request.app.state.sealer)
    named = (sent.customer_key, click_id, sent.processor_customer)
    return Payment(sent.line, tuple(sent.names), cents, returned, sent.currency, sent.occurred_at, *named)


def _cents(sent: ExportedPayment, name: str) -> int:
    """Return an amount in minor units. Raises ValidationError for a fraction of one."""
    cents = Decimal(getattr(sent, name)).scaleb(currencies.digits(sent.currency))
    if cents != int(cents) or cents > LARGEST_CENTS:
        raise errors.ValidationError.of(f"line {sent.line}: {name}", f"No amount of {sent.currency}")
    return int(cents)
