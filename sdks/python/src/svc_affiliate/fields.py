"""What a shop reports: the fields of each call, and the JSON that is sent."""

import json
import uuid
from collections.abc import Mapping
from datetime import datetime
from typing import Any, Literal, NamedTuple, TypedDict

CallName = Literal["lead", "sale", "refund"]


class LeadFields(TypedDict, total=False):
    """A visitor signed up. Without a click id or coupon nothing is sent, unless `known`: the service knows the key."""

    click_id: str | None
    customer_key: str | int | None
    email: str | None
    coupon_code: str | None
    event_name: str | None
    known: bool


class SaleFields(TypedDict, total=False):
    """A customer paid. A missing `transaction_id` is generated. Tax and shipping are parts of `amount_cents`."""

    transaction_id: str | int | None
    customer_key: str | int | None
    click_id: str | None
    amount_cents: int
    tax_cents: int | None
    shipping_cents: int | None
    currency: str | None
    coupon_code: str | None
    occurred_at: datetime | str | None
    sale_type: Literal["payment", "subscription"] | None
    is_recurring: bool | None
    subscription_id: str | None
    subscription_interval: Literal["monthly", "quarterly", "annual"] | None
    product_id: str | int | None
    line_items: Any


class RefundFields(TypedDict, total=False):
    """A sale was refunded, all that remains of it without an amount. A missing `refund_id` is generated."""

    transaction_id: str | int | None
    refund_id: str | int | None
    refund_amount_cents: int | None
    refund_reason: str | None


DECLARED: Mapping[CallName, type] = {"lead": LeadFields, "sale": SaleFields, "refund": RefundFields}
GENERATED: Mapping[CallName, str] = {"sale": "transaction_id", "refund": "refund_id"}
# Without one of these no click brought this person, as far as the shop knows, and the service knows no key of theirs.
OF_A_VISITOR: Mapping[CallName, set[str]] = {
    "lead": {"click_id", "coupon_code"},
    "sale": {"click_id", "customer_key", "coupon_code"},
}
IDENTIFIERS = ("click_id", "customer_key", "transaction_id", "refund_id", "subscription_id", "product_id")


class PreparedCall(NamedTuple):
    """A call ready to send: every attempt sends the same bytes and the same ids."""

    name: CallName
    body: str
    repeat_key: str
    transaction_id: str | None = None
    refund_id: str | None = None


def prepare(name: CallName, fields: Mapping[str, Any], *, test_mode: bool) -> PreparedCall | None:
    """Return the call to send; None if there is nothing to send. Raises TypeError, ValueError."""
    if unknown := sorted(set(fields) - DECLARED[name].__annotations__.keys()):
        raise TypeError(f"track.{name} has no field {', '.join(unknown)}")
    body = {field: _sent(field, value) for field, value in fields.items() if value is not None and value != ""}
    is_known = body.pop("known", False)
    if name in OF_A_VISITOR and not (test_mode or is_known or OF_A_VISITOR[name] & body.keys()):
        return None
    if name in GENERATED:
        body.setdefault(GENERATED[name], _new_id())
    extra = {"test_mode": True} if test_mode else {}
    if "event_name" in body:
        extra["event_name"] = body.pop("event_name")
    if extra:
        body["additional_data"] = extra
    return PreparedCall(name, json.dumps(body), _new_id(), body.get("transaction_id"), body.get("refund_id"))


def _new_id() -> str:
    return f"sdk-{uuid.uuid4().hex}"


def _sent(field: str, value: Any) -> Any:
    if isinstance(value, datetime):
        return value.astimezone().isoformat()
    return str(value) if field in IDENTIFIERS else value
