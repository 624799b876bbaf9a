"""POST /api/v1/track/sale: a referred customer paid. It needs the program key."""

import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Annotated, Any, Literal

from pydantic import AwareDatetime, JsonValue, StringConstraints

from storage.rules.errors import (
    AttributionWindowExpired,
    CurrencyNotSupported,
    CustomerNotAttributed,
    CustomerNotFound,
    CustomerWrongProgram,
    DuplicateTransaction,
    FieldError,
    IdempotencyKeyReused,
    IdentifierConflict,
    ProgramNotFound,
    SaleBeforeClick,
    ValidationError,
)
from storage.tracking import sales
from storage.tracking.principals import PresentedKey
from storage.tracking.sales import Sale, SaleResult
from storage.tracking.test_mode import TestModeCall
from tracking_api.calls.call import Endpoint, TrackingRequest
from tracking_api.calls.described import IDEMPOTENT, TEST_MODE, keyed_call
from tracking_api.calls.fields import DEFAULT_CURRENCY, NO_ADDITIONAL_DATA, AdditionalData, Cents
from tracking_api.calls.responses import SaleRecordedView, TestRecordedView
from web.body import Body, Identifier
from web.response import JsonResponse

LARGEST_LINE_ITEMS = 16 * 1024
OLDEST_BACKFILL = timedelta(days=366)
CLOCK_SKEW = timedelta(minutes=1)  # the sender's clock may run ahead of ours; the sale then gets our time
# A control character is escaped in JSON: backslash, then b, f, n, r, t or u00.., with an even run before it.
CONTROL = re.compile(r"(?<!\\)(?:\\\\)*\\(?:[bfnrt]|u00[01][0-9a-f])|[\x7f-\x9f]")
Currency = Annotated[str, StringConstraints(pattern=r"^[A-Za-z]{3}$", to_upper=True)]


class SaleBody(Body):
    """A sale; test mode needs none of its fields."""

    transaction_id: Identifier | None = None
    customer_key: Identifier | None = None
    click_id: Identifier | None = None
    amount_cents: Cents | None = None
    currency: Currency | None = None
    occurred_at: AwareDatetime | None = None
    sale_type: Literal["payment", "subscription"] | None = None
    is_recurring: bool | None = None
    subscription_id: Identifier | None = None
    subscription_interval: Literal["monthly", "quarterly", "annual"] | None = None
    product_id: Identifier | None = None
    line_items: JsonValue = None
    additional_data: AdditionalData | None = None


DETAILS = ("sale_type", "is_recurring", "subscription_id", "subscription_interval", "product_id", "line_items")


async def sale(call: TrackingRequest) -> JsonResponse:
    """Record a sale and the commission it earns."""
    key = call.require_key()
    body = await call.parse(SaleBody)
    if (body.additional_data or NO_ADDITIONAL_DATA).test_mode:
        return await _test(call, body, key)
    return await call.respond(sales.record, _sale(call, body), key, partial(_content, body))


def _content(body: SaleBody, result: SaleResult) -> dict[str, Any]:
    data = {
        "eventId": result.event_id,
        "programId": result.program_id,
        "transaction_id": body.transaction_id,
        "customer_key": result.customer_key,
        "commission_id": result.commission_id,
        "commission_cents": result.commission_cents,
        "currency": result.currency,
        "customer_key_saved": result.customer_key_saved,
        "test_mode": False,
    }
    return {"success": True, "message": "Sale recorded.", "data": data}


def _sale(call: TrackingRequest, body: SaleBody) -> Sale:
    """Return the sale from the body. Raises ValidationError naming every field that is missing or wrong."""
    wrong = [*_missing(body), *_wrong_time(body, call.at), *_wrong_line_items(body)]
    if body.transaction_id is None or body.amount_cents is None or wrong:
        raise ValidationError(fields=wrong)
    details = {name: value for name in DETAILS if (value := getattr(body, name)) is not None}
    return Sale(
        transaction_id=body.transaction_id,
        amount_cents=body.amount_cents,
        at=call.at,
        customer_key=body.customer_key,
        click_id=body.click_id,
        currency=body.currency or DEFAULT_CURRENCY,
        occurred_at=min(body.occurred_at.astimezone(UTC), call.at) if body.occurred_at else None,
        details=json.dumps(details) if details else None,
    )


def _missing(body: SaleBody) -> Iterator[FieldError]:
    if body.transaction_id is None:
        yield FieldError("transaction_id", "Required: your own id of this payment, unique per sale")
    if body.customer_key is None and body.click_id is None:
        yield FieldError("customer_key", "Required: the id you sent at the customer's lead (or a click_id)")
    if body.amount_cents is None:
        yield FieldError("amount_cents", "Required: an integer of at least 1, in the currency's smallest unit")


def _wrong_time(body: SaleBody, at: datetime) -> Iterator[FieldError]:
    if body.occurred_at and not at - OLDEST_BACKFILL <= body.occurred_at <= at + CLOCK_SKEW:
        yield FieldError("occurred_at", "Must lie in the last 366 days and not in the future")


def _wrong_line_items(body: SaleBody) -> Iterator[FieldError]:
    try:
        content = json.dumps(body.line_items, allow_nan=False, ensure_ascii=False)
    except ValueError:
        yield FieldError("line_items", "NaN and Infinity are not JSON")
    else:
        if len(content.encode()) > LARGEST_LINE_ITEMS:
            yield FieldError("line_items", "At most 16 KiB of JSON")
        if CONTROL.search(content):
            yield FieldError("line_items", "Control characters are not allowed")


async def _test(call: TrackingRequest, body: SaleBody, key: PresentedKey) -> JsonResponse:
    extra = body.additional_data or NO_ADDITIONAL_DATA
    event = TestModeCall(
        kind="sale",
        at=call.at,
        program_id=extra.program_id,
        transaction_id=body.transaction_id,
        amount_cents=body.amount_cents,
        customer_key=body.customer_key,
        click_id=body.click_id,
        event_name=extra.event_name,
    )
    return await call.test(event, key)


endpoint = Endpoint(sale)
DESCRIPTION = keyed_call(
    "trackSale",
    "Record a sale and the commission it earns",
    *(CustomerNotFound, CustomerNotAttributed, CustomerWrongProgram, AttributionWindowExpired),
    *(IdempotencyKeyReused, IdentifierConflict, SaleBeforeClick),
    *(CurrencyNotSupported, ProgramNotFound, DuplicateTransaction),
    responses=(SaleRecordedView, TestRecordedView),
    body=SaleBody,
    headers=IDEMPOTENT,
    description=f"A sale needs transaction_id, amount_cents, and customer_key or click_id. {TEST_MODE}",
)
