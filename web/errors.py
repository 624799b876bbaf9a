"""Errors as HTTP: one status for each code, one body for all of them, and that body as a model for its readers."""

import tomllib
from datetime import datetime
from http import HTTPStatus
from pathlib import Path
from typing import Any

from pydantic import BaseModel, Field

from storage.rules.errors import CODES, InvalidJson, ServiceError

_CODES = tomllib.loads(Path(__file__).with_name("statuses.toml").read_text(encoding="utf-8"))
STATUS = dict.fromkeys(CODES, HTTPStatus.BAD_REQUEST) | {
    code: HTTPStatus(int(status)) for status, codes in _CODES.items() for code in codes
}


class BodyTooSlow(InvalidJson):
    """The body did not arrive in time. The connection is closed, so that a stalled client does not keep it open."""

    code = InvalidJson.code
    message = "The body did not arrive in time."
    hint = "Send the whole body at once."


def error_body(rejection: ServiceError, request_id: str) -> dict[str, Any]:
    """Return the body of an error: its code and text, what to do, which fields, and the request's id."""
    error: dict[str, Any] = {"code": rejection.code, "message": rejection.text}
    if rejection.advice:
        error["hint"] = rejection.advice
    if rejection.fields:
        error["fields"] = [field._asdict() for field in rejection.fields]
    return {"error": error | rejection.details, "request_id": request_id}


def error_headers(rejection: ServiceError) -> dict[str, str]:
    """Return the headers that an error needs."""
    seconds = rejection.details.get("retry_after_seconds")
    headers = {} if seconds is None else {"Retry-After": str(seconds)}
    return headers | {"Connection": "close"} if isinstance(rejection, BodyTooSlow) else headers


class FieldProblem(BaseModel):
    """One field that is wrong, and why."""

    field: str
    message: str


class ExistingSale(BaseModel):
    """The sale that already has the transaction_id."""

    eventId: int  # noqa: N815 - the specification's name
    recorded_at: datetime


class CallWarning(BaseModel):
    """What to know about a recorded call.

    The lead's `email` was left out, the account may have reported the same event, no lead saved the customer_key, or no
    coupon has the coupon_code.
    """

    code: str = Field(pattern="^(email_ignored|possible_duplicate|customer_key_not_saved|coupon_unknown)$")
    message: str
    hint: str


class RotationWarning(CallWarning):
    """The program key must be replaced before `rotate_by`."""

    code: str = Field(pattern="^api_key_rotation_required$")
    rotate_by: datetime
    docs_url: str


class ErrorObject(BaseModel):
    """What was rejected and why; only `code` and `message` are always present.

    `same_payload` is of `duplicate_transaction`: true if the recorded sale has the same customer, amount and currency.
    """

    code: str
    message: str
    hint: str = ""
    fields: list[FieldProblem] = []
    required_scope: str = ""
    cap: str = ""
    retry_after_seconds: int = Field(default=1, ge=1)
    existing: ExistingSale | None = None
    same_payload: bool = False
    flags: list[str] = []
    line_ids: list[int] = []


class Error(BaseModel):
    """The body of every error."""

    error: ErrorObject
    request_id: str
    warnings: list[RotationWarning] = []
