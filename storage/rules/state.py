"""How a check came out: of readiness's gates and of an explanation's steps."""

from enum import StrEnum


class State(StrEnum):
    """Pass and fail are proved; unknown where there is nothing to look at yet."""

    PASS = "pass"  # noqa: S105 - a state, no password
    FAIL = "fail"
    UNKNOWN = "unknown"
