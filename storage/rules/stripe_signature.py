"""Stripe's signature: `Stripe-Signature: t=<seconds>,v1=<hex>`, an HMAC-SHA256 of "t.body"; there may be several v1."""

import hmac
import re
from hashlib import sha256

TOLERANCE_SECONDS = 300
_HEADER = re.compile(r"t=([0-9]{1,12}),([ -~]*)")


def is_signed(content: bytes, header: str, secret: str, *, now: float) -> bool:
    """Return whether the secret signed exactly these bytes, at most TOLERANCE_SECONDS before or after `now`."""
    parsed = _HEADER.fullmatch(header)
    if parsed is None or abs(now - int(parsed[1])) > TOLERANCE_SECONDS or not secret.strip():
        return False
    signatures = [part[3:] for part in parsed[2].split(",") if part.startswith("v1=")]
    expected = sign(content, secret, signed_at=parsed[1])
    return any(hmac.compare_digest(expected, signature) for signature in signatures)


def sign(content: bytes, secret: str, *, signed_at: str) -> str:
    """Return the signature of bytes at a time in seconds, as the header has it."""
    return hmac.new(secret.encode(), f"{signed_at}.".encode() + content, sha256).hexdigest()
