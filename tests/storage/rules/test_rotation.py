"""A flagged key works until its deadline, and not at it."""

from datetime import UTC, datetime, timedelta

import pytest

from storage.rules import rotation
from storage.rules.rotation import Rotation

DEADLINE = datetime(2026, 6, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("rotate_by", "at", "state"),
    [
        (None, DEADLINE, Rotation.ACTIVE),
        (DEADLINE, DEADLINE - timedelta(milliseconds=1), Rotation.FLAGGED),
        (DEADLINE, DEADLINE, Rotation.EXPIRED),
        (DEADLINE, DEADLINE + timedelta(days=1), Rotation.EXPIRED),
    ],
)
def test_the_state_follows_the_deadline(rotate_by: datetime | None, at: datetime, state: Rotation):
    assert rotation.state(rotate_by, at) == state
