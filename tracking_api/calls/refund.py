"""POST /api/v1/track/refund: a sale was refunded, fully or in part. It needs the program key."""

from functools import partial
from typing import Any

from storage.rules.errors import (
    CustomerWrongProgram,
    FieldError,
    IdempotencyKeyReused,
    ProgramNotFound,
    RefundExceedsSale,
    TransactionNotFound,
    ValidationError,
)
from storage.tracking import refunds, test_mode
from storage.tracking.principals import PresentedKey
from storage.tracking.refunds import Refund, RefundResult
from storage.tracking.test_mode import TestModeCall, TestModeRefund
from tracking_api.calls.call import Endpoint, TrackingRequest
from tracking_api.calls.described import IDEMPOTENT, keyed_call
from tracking_api.calls.fields import NO_ADDITIONAL_DATA, AdditionalData, Cents
from tracking_api.calls.responses import RefundRecordedView
from web.body import Body, Identifier, Text
from web.response import JsonResponse


class RefundBody(Body):
    """A refund; without an amount, the rest of the sale is refunded."""

    transaction_id: Identifier | None = None
    refund_amount_cents: Cents | None = None
    refund_id: Identifier | None = None
    refund_reason: Text | None = None
    additional_data: AdditionalData | None = None

    @property
    def amount_cents(self) -> int | None:
        """What is to be refunded, as the rejection log names it; its currency is the sale's."""
        return self.refund_amount_cents


async def refund(call: TrackingRequest) -> JsonResponse:
    """Record a refund and reverse its share of the commission."""
    key = call.require_key()
    body = await call.parse(RefundBody)
    if body.transaction_id is None:
        raise ValidationError(fields=[FieldError("transaction_id", "Required: the transaction_id of the sale")])
    if (body.additional_data or NO_ADDITIONAL_DATA).test_mode:
        return await _test(call, body, key)
    taken = Refund(
        transaction_id=body.transaction_id,
        at=call.at,
        amount_cents=body.refund_amount_cents,
        refund_id=body.refund_id,
        reason=body.refund_reason,
        request_id=call.scope["request_id"],
    )
    return await call.respond(refunds.record, taken, key, partial(_content, body))


def _content(body: RefundBody, done: RefundResult) -> dict[str, Any]:
    figures = done._asdict()
    replayed = figures.pop("replayed")
    data = {"transaction_id": body.transaction_id, "refund_id": body.refund_id, **figures}
    content = {"success": True, "message": f"Sale {done.status.replace('_', ' ')}.", "data": data}
    if replayed:
        content |= {"replayed": True, "data": {**data, "replayed": True}}
    return content


async def _test(call: TrackingRequest, body: RefundBody, key: PresentedKey) -> JsonResponse:
    event = TestModeCall(
        kind="refund",
        at=call.at,
        program_id=(body.additional_data or NO_ADDITIONAL_DATA).program_id,
        transaction_id=body.transaction_id,
        amount_cents=body.refund_amount_cents,
    )
    return await call.respond(test_mode.refund, event, key, partial(_test_content, body))


def _test_content(body: RefundBody, done: TestModeRefund) -> dict[str, Any]:
    data = {
        "eventId": done.event_id,
        "programId": done.program_id,
        "test_mode": True,
        "status": done.status,
        "transaction_id": body.transaction_id,
        "refund_id": body.refund_id,
        "refunded_cents": done.refunded_cents,
        "refunded_total_cents": done.refunded_total_cents,
        "remaining_cents": done.remaining_cents,
        "commission_id": None,
        "commission_reversed_cents": 0,
    }
    return {"success": True, "message": "Test refund recorded.", "data": data}


endpoint = Endpoint(refund)
DESCRIPTION = keyed_call(
    "trackRefund",
    "Record a refund and reverse its share of the commission",
    *(IdempotencyKeyReused, RefundExceedsSale, TransactionNotFound, ProgramNotFound, CustomerWrongProgram),
    responses=(RefundRecordedView,),
    body=RefundBody,
    headers=IDEMPOTENT,
    description="Without refund_amount_cents, the rest of the sale is refunded. In test mode it refunds a test sale.",
)
