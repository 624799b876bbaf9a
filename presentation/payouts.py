"""Payouts as members and agents draft, confirm, send, reopen and correct them; and the bodies of these requests."""

from datetime import date
from typing import Annotated, Any

from pydantic import Field

from presentation.api_request import ApiRequest
from presentation.changes import LargeId
from presentation.operations import operation
from presentation.settings_models import Name
from storage.lists.payouts import PAYOUTS, Payout, PayoutLine
from storage.management import payout_methods, payout_returns, payout_sending, payouts
from storage.rules import errors
from storage.rules.commission import MOST_CENTS
from storage.rules.payout import MethodKind
from web.body import Body, Identifier, Text
from web.response import CreatedResponse

NOT_SENT = (
    errors.PayoutSent,
    errors.PayoutChanged,
    errors.SecondPersonRequired,
    errors.SecondKeyRequired,
    errors.OverCap,
)


class NewPayout(Body):
    """What a draft freezes: what was earned until a day (by default the last one of the month before).

    `minimum_cents` replaces the program's minimum; `partner_ids` are those of the only partners to pay.
    """

    earned_until: date | None = None
    minimum_cents: Annotated[int, Field(ge=0, le=MOST_CENTS)] | None = None
    partner_ids: Annotated[list[LargeId], Field(min_length=1, max_length=1_000)] | None = None


class FailedPayment(Body):
    """The line whose payment failed, and why; its amount is in the partner's balance again."""

    line_id: LargeId
    reason: Name


class SentPayout(Body):
    """The day on which the money was sent, the reference of the payments, and those that failed.

    Partners get their statement by e-mail, where the server sends any, unless `notify` is false.
    """

    paid_on: date
    reference: Identifier
    failed: Annotated[tuple[FailedPayment, ...], Field(max_length=1_000, strict=False)] = ()
    notify: bool = True


class PayoutReason(Body):
    """Why it is done."""

    reason: Name


class PayoutMethodChange(Body):
    """How a partner is paid: the `email` of PayPal or Wise, a bank account, or anything else as `text`.

    A bank account has a `holder` and an `iban` (and `bic`), or an `account_number` and a `routing_number`.
    """

    kind: MethodKind
    email: Identifier | None = None
    holder: Identifier | None = None
    iban: Identifier | None = None
    bic: Identifier | None = None
    account_number: Identifier | None = None
    routing_number: Identifier | None = None
    text: Text | None = None

    def details(self) -> dict[str, str]:
        return self.model_dump(exclude={"kind"}, exclude_none=True)


@operation(errors.PayoutOpen, errors.PartnerNotFound, notice="payout-drafted")
async def draft_payout(call: ApiRequest, sent: NewPayout) -> CreatedResponse[Payout]:
    """Draft a payout: freeze what partners are due."""
    return await call.create(Payout, payouts.draft, **dict(sent))


@operation()
async def get_payout(call: ApiRequest) -> Payout:
    """Return a payout."""
    return await call.get(PAYOUTS, "payout_id")


@operation(errors.PayoutSent)
async def discard_payout(call: ApiRequest) -> None:
    """Discard a draft; its commissions can be paid by another payout."""
    await call.write(payouts.discard, call.path_id("payout_id"))


@operation(errors.PayoutSent, errors.SecondPersonRequired)
async def confirm_payout(call: ApiRequest) -> Payout:
    """Confirm a draft that another person made."""
    return await call.write(payouts.confirm, call.path_id("payout_id"))


@operation(*NOT_SENT, notice="payout-sent")
async def send_payout(call: ApiRequest, sent: SentPayout) -> Payout:
    """Say that the payments of a draft were sent, save for those that failed."""
    failed = {each.line_id: each.reason for each in sent.failed}
    return await call.write(payout_sending.send, call.path_id("payout_id"), **dict(sent) | {"failed": failed})


@operation(errors.PayoutSent, errors.PayoutOpen)
async def reopen_payout(call: ApiRequest) -> Payout:
    """Make a payout a draft again, within an hour after it was sent."""
    return await call.write(payout_returns.reopen, call.path_id("payout_id"))


@operation()
async def correct_payout_line(call: ApiRequest, sent: PayoutReason) -> CreatedResponse[PayoutLine]:
    """Take back what a line paid, as the payment came back; it is in the partner's balance again."""
    path: Any = {name: call.path_id(name) for name in ("payout_id", "line_id")}
    return await call.create(PayoutLine, payout_returns.correct_line, **path, reason=sent.reason)


@operation()
async def get_payout_method(call: ApiRequest) -> payout_methods.PayoutMethod:
    """Return how a partner is paid, masked."""
    return await call.read(payout_methods.get_method, call.path_id("partner_id"))


@operation()
async def release_payout_method(call: ApiRequest, sent: PayoutReason) -> payout_methods.PayoutMethod:
    """Let payouts use a partner's new method before its hold ends."""
    return await call.write(payout_methods.release, call.path_id("partner_id"), reason=sent.reason)
