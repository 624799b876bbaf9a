"""Errors as HTTP: one status for each code, one body for all of them."""

from http import HTTPStatus
from typing import Any

from storage.rules.errors import CODES, InvalidJson, ServiceError

STATUS = dict.fromkeys(CODES, HTTPStatus.BAD_REQUEST) | {
    "invalid_key": HTTPStatus.UNAUTHORIZED,
    "api_key_rotation_required": HTTPStatus.UNAUTHORIZED,
    "invalid_credentials": HTTPStatus.UNAUTHORIZED,
    "wrong_key_type": HTTPStatus.UNAUTHORIZED,
    "second_factor_required": HTTPStatus.UNAUTHORIZED,
    "invalid_second_factor": HTTPStatus.UNAUTHORIZED,
    "forbidden": HTTPStatus.FORBIDDEN,
    "owner_required": HTTPStatus.FORBIDDEN,
    "insufficient_scope": HTTPStatus.FORBIDDEN,
    "program_not_allowed": HTTPStatus.FORBIDDEN,
    "origin_not_allowed": HTTPStatus.FORBIDDEN,
    "over_cap": HTTPStatus.FORBIDDEN,
    "second_key_required": HTTPStatus.FORBIDDEN,
    "not_found": HTTPStatus.NOT_FOUND,
    "transaction_not_found": HTTPStatus.NOT_FOUND,
    "link_expired": HTTPStatus.NOT_FOUND,
    "method_not_allowed": HTTPStatus.METHOD_NOT_ALLOWED,
    "duplicate_transaction": HTTPStatus.CONFLICT,
    "idempotency_key_reused": HTTPStatus.CONFLICT,
    "commission_on_hold": HTTPStatus.CONFLICT,
    "last_owner": HTTPStatus.CONFLICT,
    "program_has_events": HTTPStatus.CONFLICT,
    "commission_flagged": HTTPStatus.CONFLICT,
    "second_factor_exists": HTTPStatus.CONFLICT,
    "precondition_failed": HTTPStatus.PRECONDITION_FAILED,
    "payload_too_large": HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
    "unsupported_media_type": HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
    "rate_limited": HTTPStatus.TOO_MANY_REQUESTS,
    "internal_error": HTTPStatus.INTERNAL_SERVER_ERROR,
    "overloaded": HTTPStatus.SERVICE_UNAVAILABLE,
    "storage_unavailable": HTTPStatus.SERVICE_UNAVAILABLE,
    "outcome_unknown": HTTPStatus.SERVICE_UNAVAILABLE,
}


class BodyTooSlow(InvalidJson):
    """The body did not arrive in time. The connection is closed, so that a stalled client does not keep it open."""

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
