"""The state of a readiness gate or of a step in an explanation."""

from enum import StrEnum


class State(StrEnum):
    """Pass and fail are proved; unknown means that there is no data yet."""

    PASS = "pass"  # noqa: S105 - a state, no password
    FAIL = "fail"
    UNKNOWN = "unknown"
