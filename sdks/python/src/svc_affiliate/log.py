"""What the SDK logs, on the logger `svc_affiliate`: each thing once, or once a minute."""

import logging
import time
from collections.abc import Iterable, Mapping
from typing import Any

from svc_affiliate.result import Status, TrackResult

LOGGER = logging.getLogger("svc_affiliate")
AGAIN_AFTER_SECONDS = 60.0
LEVELS = {Status.QUEUED: logging.WARNING, Status.FAILED: logging.ERROR, Status.REJECTED: logging.ERROR}
_said: dict[str, float] = {}


def warn_once(warnings: Iterable[Mapping[str, Any]]) -> None:
    """Log the warnings of a response, such as a key that must be rotated: each code once in this process."""
    for warning in warnings:
        code = str(warning.get("code"))
        if code not in _said:
            _said[code] = time.monotonic()
            LOGGER.warning("%s: %s %s", code, warning.get("message"), warning.get("hint", ""))


def report(result: TrackResult[Any]) -> None:
    """Log a call that was not recorded: a wrong one always, others at most once a minute for each reason."""
    level, error = LEVELS.get(result.status), result.error
    if level is None or error is None:
        return
    about, now = f"{result.status} {error.code}", time.monotonic()
    if result.status == Status.REJECTED or now - _said.get(about, -AGAIN_AFTER_SECONDS) >= AGAIN_AFTER_SECONDS:
        _said[about] = now
        text = "track.%s %s: %s: %s %s (request %s)"
        LOGGER.log(level, text, result.call, result.status, error.code, error.message, error.hint, error.request_id)
