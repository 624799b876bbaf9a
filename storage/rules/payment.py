"""What a payment processor reports and signs: payments, refunds and disputes."""

import hmac
import re
from datetime import datetime, timedelta
from enum import StrEnum
from hashlib import sha256
from typing import NamedTuple

OLDEST = timedelta(days=366)  # as far back as the API records a sale; a processor gives up after days
CLOCK_SKEW = timedelta(minutes=5)  # as far as the processor's clock may run ahead of ours
TOLERANCE_SECONDS = 300
_HEADER = re.compile(r"t=([0-9]{1,12}),([ -~]*)")


class Paid(NamedTuple):
    transaction_id: str
    references: tuple[str, ...]  # the processor's ids of it
    amount_cents: int
    currency: str
    occurred_at: datetime
    click_id: str | None = None
    customer_key: str | None = None
    program_id: str | None = None
    processor_customer: str | None = None
    tax_cents: int = 0  # of its amount, as is the shipping
    shipping_cents: int = 0
    coupon_code: str | None = None  # of its metadata, else the promotion code that the customer entered
    is_bare: bool = False  # it comes without its invoice or checkout, which another event may still report


class PaymentOutcome(StrEnum):
    """What became of a processor's event; an event whose sale is rejected has the error's code instead."""

    RECORDED = "recorded"
    REPEATED = "repeated"
    LINKED = "linked"
    WAITING = "waiting"  # for a click that is not known
    SETTLING = "settling"  # it may still be part of another payment
    UNKNOWN_CUSTOMER = "unknown_customer"  # no lead has its customer_key: mostly no partner sent the customer
    ORGANIC = "organic"  # it names no customer
    HELD = "held_as_duplicate"
    SAME = "same_sale"
    NOT_REFERRED = "not_referred"
    TEST = "test"
    IGNORED = "ignored"


class ReturnKind(StrEnum):
    """A refund with its own id, the total refunded of a charge so far, or a dispute."""

    REFUND = "refund"
    TOTAL = "total"
    DISPUTE = "dispute"


class Returned(NamedTuple):
    """A refund or a dispute."""

    reference: str
    return_id: str
    kind: ReturnKind
    amount_cents: int
    stands: bool  # False if the refund failed or the dispute was won
    told_at: datetime
    listed: tuple["Returned", ...] = ()  # the refunds that a total adds up, where the processor lists them


class Linked(NamedTuple):
    """Two ids of one payment: the invoice's, and that of what paid it."""

    references: tuple[str, ...]


class Introduced(NamedTuple):
    """A checkout without a payment yet (a trial, a full discount, a slow transfer) that names the customer."""

    processor_customer: str
    click_id: str | None
    customer_key: str | None
    program_id: str | None


Content = Paid | Returned | Linked | Introduced


class ProcessorEvent(NamedTuple):
    id: str
    type: str
    occurred_at: datetime
    content: Content | None  # None if it is not about a program's sales
    is_test: bool = False  # it comes from the test mode
    names: tuple[str, ...] = ()  # all ids of the processor's that it contains


def is_signed(content: bytes, header: str, secret: str, *, now: float) -> bool:
    """Return whether the secret signed exactly these bytes, at most TOLERANCE_SECONDS before or after `now`."""
    # Stripe sends `t=<seconds>,v1=<hex>`, an HMAC-SHA256 of "t.body"; there may be several v1.
    parsed = _HEADER.fullmatch(header)
    if parsed is None or abs(now - int(parsed[1])) > TOLERANCE_SECONDS or not secret.strip():
        return False
    signatures = [part[3:] for part in parsed[2].split(",") if part.startswith("v1=")]
    expected = sign(content, secret, signed_at=parsed[1])
    return any(hmac.compare_digest(expected, signature) for signature in signatures)


def sign(content: bytes, secret: str, *, signed_at: str) -> str:
    """Return the signature of bytes at a time in seconds, as the header has it."""
    return hmac.new(secret.encode(), f"{signed_at}.".encode() + content, sha256).hexdigest()
