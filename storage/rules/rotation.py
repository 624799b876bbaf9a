"""Rotation of the program key: the specification's table "Program key rotation"."""

from datetime import datetime
from enum import StrEnum


class Rotation(StrEnum):
    """Whether a program key works, works with warnings, or is rejected."""

    ACTIVE = "active"
    FLAGGED = "flagged"
    EXPIRED = "expired"


def state(rotate_by: datetime | None, at: datetime) -> Rotation:
    """Return the state at the time `at` of a key whose rotation deadline is `rotate_by`."""
    if rotate_by is None:
        current = Rotation.ACTIVE
    elif at < rotate_by:
        current = Rotation.FLAGGED
    else:
        current = Rotation.EXPIRED
    return current
