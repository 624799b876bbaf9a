"""What became of a call, and what is logged of it: a status, the service's data, and the error by its code."""

import logging
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Generic, TypedDict, TypeVar, cast

from svc_affiliate.codes import ErrorCode
from svc_affiliate.fields import CallName, PreparedCall

# Ordinary outcomes: no partner earns by this call, and there is nothing to fix in the shop's code.
UNATTRIBUTED = {
    *(ErrorCode.CUSTOMER_NOT_FOUND, ErrorCode.CUSTOMER_NOT_ATTRIBUTED, ErrorCode.ATTRIBUTION_WINDOW_EXPIRED),
    *(ErrorCode.SALE_BEFORE_CLICK, ErrorCode.STATUS_TRANSITION_REFUSED, ErrorCode.TRANSACTION_NOT_FOUND),
}
LOGGER = logging.getLogger("svc_affiliate")
AGAIN_AFTER_SECONDS = 60.0
_said: dict[str, float] = {}
SERVER_ERROR, UNAUTHORIZED, TOO_MANY = 500, 401, 429


class Status(StrEnum):
    RECORDED = "recorded"  # the service has stored the call, now or before; or would, if it was a dry run
    UNATTRIBUTED = "unattributed"  # no partner sent this customer: there is nothing to record
    SKIPPED = "skipped"  # nothing was sent: the visitor has no click
    QUEUED = "queued"  # the call waits in the outbox and is sent later
    REJECTED = "rejected"  # the call is wrong: `error` says how
    FAILED = "failed"  # the service or the key is out, and there is no outbox


LEVELS = {Status.QUEUED: logging.WARNING, Status.FAILED: logging.ERROR, Status.REJECTED: logging.ERROR}


class LeadData(TypedDict, total=False):
    eventId: int
    programId: int
    test_mode: bool


class SaleData(LeadData, total=False):
    transaction_id: str
    customer_key: str | None
    commission_id: int | None
    commission_cents: int
    currency: str
    customer_key_saved: bool


class RefundData(LeadData, total=False):
    status: str
    transaction_id: str
    refund_id: str | None
    refunded_cents: int
    refunded_total_cents: int
    remaining_cents: int
    commission_id: int | None
    commission_reversed_cents: int
    replayed: bool


@dataclass(frozen=True)
class WrongField:
    """One field that was wrong, and how."""

    field: str
    message: str


@dataclass(frozen=True)
class TrackError:
    """Why a call was not recorded. Branch on `code`: an ErrorCode, or the text of a code of a newer service."""

    code: ErrorCode | str
    message: str
    hint: str = ""
    fields: tuple[WrongField, ...] = ()
    request_id: str | None = None
    http_status: int | None = None
    retry_after_seconds: int | None = None
    existing: Mapping[str, Any] | None = None  # duplicate_transaction: the sale that is recorded
    same_payload: bool | None = None  # duplicate_transaction: whether it is the same sale

    @property
    def is_outage(self) -> bool:
        """Whether the service or the way to it is out."""
        return self.http_status is None or self.http_status >= SERVER_ERROR


Data = TypeVar("Data", bound=Mapping[str, Any])


@dataclass(frozen=True)
class TrackResult(Generic[Data]):
    """The outcome of one call. `transaction_id` and `refund_id` are the ids that were sent, given or generated."""

    status: Status
    call: CallName
    data: Data = field(default_factory=lambda: cast("Data", {}))
    error: TrackError | None = None
    already_recorded: bool = False
    dry_run: bool = False
    transaction_id: str | None = None
    refund_id: str | None = None

    @property
    def ok(self) -> bool:
        """Whether there is nothing to do: False only for a call that is wrong or lost."""
        return self.status not in {Status.REJECTED, Status.FAILED}


LeadResult = TrackResult[LeadData]
SaleResult = TrackResult[SaleData]
RefundResult = TrackResult[RefundData]


def of_response(call: PreparedCall, http_status: int, content: Mapping[str, Any]) -> TrackResult[Any]:
    """Return the result that a response of the service means; a temporary error is a failed call."""
    if "error" not in content:
        data = content.get("data") or {}
        again = bool(content.get("already_recorded") or content.get("replayed"))
        return _of(call, Status.RECORDED, data=data, already_recorded=again, dry_run="dry_run" in content)
    known: Mapping[str, Any] = content["error"]
    code = str(known.get("code"))
    error = TrackError(
        code=ErrorCode(code) if code in set(ErrorCode) else code,
        message=str(known.get("message", "")),
        hint=str(known.get("hint", "")),
        fields=tuple(WrongField(each["field"], each["message"]) for each in known.get("fields", ())),
        request_id=content.get("request_id"),
        http_status=http_status,
        retry_after_seconds=known.get("retry_after_seconds"),
        existing=known.get("existing"),
        same_payload=known.get("same_payload"),
    )
    if error.code == ErrorCode.DUPLICATE_TRANSACTION and error.same_payload:
        return _of(call, Status.RECORDED, data=dict(error.existing or {}), already_recorded=True)
    is_temporary = error.is_outage or http_status in {UNAUTHORIZED, TOO_MANY}
    status = Status.FAILED if is_temporary else Status.REJECTED
    return _of(call, Status.UNATTRIBUTED if error.code in UNATTRIBUTED else status, error=error)


def failed(call: PreparedCall, code: ErrorCode, message: str) -> TrackResult[Any]:
    """Return the result of a call that got no response of the service."""
    return _of(call, Status.FAILED, error=TrackError(code, message))


def broken(name: CallName, problem: Exception) -> TrackResult[Any]:
    """Return the result of a call that could not be made from what the shop passed, or that the SDK failed at."""
    is_wrong = isinstance(problem, TypeError | ValueError)
    code = ErrorCode.VALIDATION_ERROR if is_wrong else ErrorCode.SDK_ERROR
    error = TrackError(code, f"{type(problem).__name__}: {problem}")
    return TrackResult(Status.REJECTED if is_wrong else Status.FAILED, name, error=error)


def _of(call: PreparedCall, status: Status, **known: Any) -> TrackResult[Any]:
    return TrackResult(status, call.name, transaction_id=call.transaction_id, refund_id=call.refund_id, **known)


def warn_once(warnings: Iterable[Mapping[str, Any]]) -> None:
    """Log the warnings of a response, such as a key that must be rotated: each code once in this process."""
    for warning in warnings:
        code = str(warning.get("code"))
        if code not in _said:
            _said[code] = time.monotonic()
            LOGGER.warning("%s: %s %s", code, warning.get("message"), warning.get("hint", ""))


def report(sent: TrackResult[Any]) -> None:
    """Log a call that was not recorded: a wrong one always, others at most once a minute for each reason."""
    level, error = LEVELS.get(sent.status), sent.error
    if level is None or error is None:
        return
    about, now = f"{sent.status} {error.code}", time.monotonic()
    if sent.status == Status.REJECTED or now - _said.get(about, -AGAIN_AFTER_SECONDS) >= AGAIN_AFTER_SECONDS:
        _said[about] = now
        text = "track.%s %s: %s: %s %s (request %s)"
        LOGGER.log(level, text, sent.call, sent.status, error.code, error.message, error.hint, error.request_id)
