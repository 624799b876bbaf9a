"""The time that every call is given, unless a test gives another."""

from datetime import UTC, datetime


def now() -> datetime:
    """Return the present moment, aware, in UTC."""
    return datetime.now(UTC)
