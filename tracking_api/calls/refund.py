"""POST /api/v1/track/refund: a sale was refunded, fully or in part. It needs the program key."""

from functools import partial
from typing import Literal

from presentation.view import View, with_fields_of
from storage.rules import errors
from storage.tracking import refunds
from storage.tracking.test_mode import TestModeRefund, record_with_key
from tracking_api.calls import fields
from tracking_api.calls.call import Answer, Endpoint, Recording, TrackingCaller
from web.body import Identifier, Text


class RefundBody(fields.TrackingBody):
    """A refund; without an amount, the rest of the sale is refunded."""

    transaction_id: Identifier | None = None
    refund_amount_cents: fields.Cents | None = None
    refund_id: Identifier | None = None
    refund_reason: Text | None = None

    @property
    def amount_cents(self) -> int | None:
        """What is to be refunded, as the rejection log names it; its currency is the sale's."""
        return self.refund_amount_cents


@with_fields_of(refunds.RefundResult, leave_out={"is_held"})
class RefundDataView(View):
    """The refunded and the remaining amount in the sale's currency, and the reversal in the program's."""

    transaction_id: str
    refund_id: str | None
    replayed: Literal[True] = True


@with_fields_of(TestModeRefund)
class TestRefundDataView(fields.EventDataView):
    """A refund of a test sale, which reverses no commission."""

    transaction_id: str
    refund_id: str | None
    commission_id: None
    commission_reversed_cents: Literal[0]
    test_mode: Literal[True]


class RefundRecordedView(fields.FlaggableView):
    """A refund was recorded; `replayed` is true if this refund_id was already recorded."""

    message: str
    replayed: Literal[True] = True
    data: RefundDataView | TestRefundDataView


def refund(body: RefundBody, caller: TrackingCaller) -> Recording:
    """Record a refund and reverse its share of the commission."""
    if body.transaction_id is None:
        raise errors.ValidationError.of("transaction_id", "Required: the transaction_id of the sale")
    if body.extra.test_mode:
        event = body.test_event("refund", caller.at, event_name=None)
        return Recording(record_with_key, event, partial(_test_answer, body), caller.key)
    reported = refunds.Refund(
        transaction_id=body.transaction_id,
        at=caller.at,
        amount_cents=body.refund_amount_cents,
        refund_id=body.refund_id,
        reason=body.refund_reason,
        request_id=caller.scope["request_id"],
        caller=caller.key and caller.key.caller,
    )
    return Recording(refunds.record, reported, partial(_answer, body), caller.key)


def _answer(body: RefundBody, result: refunds.RefundResult) -> Answer:
    data = fields.event_data(result, transaction_id=body.transaction_id, refund_id=body.refund_id)
    replayed = {"replayed": True} if data.pop("replayed") else {}
    warned = {"warnings": [fields.WARNINGS["refund_held"]]} if data.pop("is_held") else {}
    message = f"Sale {result.status.replace('_', ' ')}."
    return {"success": True, "message": message, "data": {**data, **replayed}, **replayed, **warned}


def _test_answer(body: RefundBody, result: TestModeRefund) -> Answer:
    named = {"transaction_id": body.transaction_id, "refund_id": body.refund_id}
    data = fields.event_data(result, **named, commission_id=None, commission_reversed_cents=0, test_mode=True)
    return {"success": True, "message": "Test refund recorded.", "data": data}


endpoint = Endpoint(refund, RefundBody)
DESCRIPTION = fields.described("refund", RefundRecordedView, body=RefundBody)
