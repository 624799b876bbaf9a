"""POST /api/v1/track/sale: a referred customer paid. It needs the program key."""

import json
import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any, Literal

from pydantic import AwareDatetime, JsonValue

from presentation.view import with_fields_of
from storage.rules import errors
from storage.rules.errors import FieldError
from storage.tracking import sales
from storage.tracking.sale_decisions import Sale, SaleResult
from tracking_api.calls import fields
from tracking_api.calls.call import Answer, Endpoint, Recording, TrackingCaller, recording_of_test
from web.body import Currency, Identifier

DEFAULT_CURRENCY = "USD"
LARGEST_LINE_ITEMS = 16 * 1024
OLDEST_BACKFILL = timedelta(days=366)
CLOCK_SKEW = timedelta(minutes=1)  # the sender's clock may run ahead of ours; the sale then gets our time
# A control character is escaped in JSON: backslash, then b, f, n, r, t or u00.., with an even run before it.
CONTROL = re.compile(r"(?<!\\)(?:\\\\)*\\(?:[bfnrt]|u00[01][0-9a-f])|[\x7f-\x9f]")


class SaleBody(fields.TrackingBody):
    """A sale; test mode needs none of its fields.

    Tax and shipping are parts of `amount_cents` and count as the program's `commission_basis` says.
    `coupon_code` credits its partner where no click does; the program's `coupon_wins` says which of the two decides.
    """

    sale_type: Literal["payment", "subscription"] | None = None
    is_recurring: bool | None = None
    subscription_id: Identifier | None = None
    subscription_interval: Literal["monthly", "quarterly", "annual"] | None = None
    product_id: Identifier | None = None
    line_items: JsonValue = None
    transaction_id: Identifier | None = None
    customer_key: Identifier | None = None
    click_id: Identifier | None = None
    amount_cents: fields.Cents | None = None
    tax_cents: fields.PartCents | None = None
    shipping_cents: fields.PartCents | None = None
    currency: Currency | None = None
    coupon_code: Identifier | None = None
    occurred_at: AwareDatetime | None = None

    def logged(self) -> dict[str, Any]:
        fields = super().logged()
        return fields if fields["amount_cents"] is None else {**fields, "currency": self.currency or DEFAULT_CURRENCY}


REPORTED = [name for name in SaleBody.model_fields if name in Sale._fields]  # a field with one name in both
# What was sold and how: stored with the sale as it was sent.
DETAILS = ["coupon_code", *(name for name in SaleBody.model_fields if name not in {*REPORTED, "additional_data"})]


@with_fields_of(SaleResult, leave_out={"possibly_repeats", "coupon_unknown"})
class SaleDataView(fields.EventDataView):
    """A recorded sale; the commission is in cents of the program's `currency`.

    `customer_key_saved` is false where the customer does not carry `customer_key`: only a lead saves it. A sale that
    names `click_id` and `customer_key` lets later ones with the `customer_key` alone find the customer all the same.
    """

    transaction_id: str
    test_mode: Literal[False]


class SaleRecordedView(fields.FlaggableView):
    """A sale was recorded."""

    message: str
    data: SaleDataView


def sale(body: SaleBody, caller: TrackingCaller) -> Recording:
    """Record a sale and the commission it earns."""
    if body.extra.test_mode:
        return recording_of_test(body.test_event("sale", caller.at), caller.key)
    if wrong := list(_wrong(body, caller.at)):
        raise errors.ValidationError(fields=wrong)
    sent = vars(body)
    reported = {name: sent[name] for name in REPORTED if sent[name] is not None}
    details = {name: sent[name] for name in DETAILS if sent[name] is not None}
    if body.occurred_at is not None:
        reported["occurred_at"] = min(body.occurred_at.astimezone(UTC), caller.at)
    by = caller.key and caller.key.caller
    item = Sale(**reported, at=caller.at, details=json.dumps(details) if details else None, caller=by)
    return Recording(sales.record, item, partial(_answer, body), caller.key)


def _answer(body: SaleBody, result: SaleResult) -> Answer:
    data = fields.event_data(result, transaction_id=body.transaction_id, test_mode=False)
    answer = {"success": True, "message": "Sale recorded.", "data": data}
    warnings: list[Mapping[str, str]] = []
    if repeats := data.pop("possibly_repeats"):
        held = fields.WARNINGS["sale_held"]
        warnings.append({**held, "message": held["message"].format(transaction_id=repeats)})
    if data.pop("coupon_unknown"):
        warnings.append(fields.WARNINGS["coupon_unknown"])
    if not result.customer_key_saved:
        warnings.append(fields.WARNINGS["customer_key_not_saved"])
    return answer | {"warnings": warnings} if warnings else answer


def _wrong(body: SaleBody, at: datetime) -> Iterator[FieldError]:
    if body.transaction_id is None:
        yield FieldError("transaction_id", "Required: your own id of this payment, unique per sale")
    if body.customer_key is None and body.click_id is None and body.coupon_code is None:
        yield FieldError("customer_key", "Required: the id you sent at the customer's lead (or a click_id)")
    if body.amount_cents is None:
        yield FieldError("amount_cents", "Required: an integer of at least 1, in the currency's smallest unit")
    elif (body.tax_cents or 0) + (body.shipping_cents or 0) > body.amount_cents:
        field = "tax_cents" if body.tax_cents else "shipping_cents"
        yield FieldError(field, "Tax and shipping are parts of amount_cents: together they must not exceed it")
    if body.occurred_at and not at - OLDEST_BACKFILL <= body.occurred_at <= at + CLOCK_SKEW:
        yield FieldError("occurred_at", "Must lie in the last 366 days and not in the future")
    try:
        content = "" if body.line_items is None else json.dumps(body.line_items, allow_nan=False, ensure_ascii=False)
    except ValueError:
        yield FieldError("line_items", "NaN and Infinity are not JSON")
    else:
        if len(content.encode()) > LARGEST_LINE_ITEMS:
            yield FieldError("line_items", "At most 16 KiB of JSON")
        if CONTROL.search(content):
            yield FieldError("line_items", "Control characters are not allowed")


endpoint = Endpoint(sale, SaleBody)
DESCRIPTION = fields.described("sale", SaleRecordedView, fields.TestRecordedView, body=SaleBody)
