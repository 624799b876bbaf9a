"""The time zones that a workspace can choose for the times on its pages."""

from functools import cache
from zoneinfo import available_timezones

UTC = "UTC"
_OLD_NAMES = ("Etc/", "SystemV/", "US/", "Canada/", "Brazil/", "Chile/", "Mexico/")


@cache
def names() -> tuple[str, ...]:
    """Return UTC, then Region/City in order."""
    cities = sorted(name for name in available_timezones() if "/" in name and not name.startswith(_OLD_NAMES))
    return (UTC, *cities)


def known(name: str) -> str:
    """Return the name of a time zone that can be chosen. Raises ValueError for others."""
    if name not in names():
        raise ValueError("Choose a time zone of the list")
    return name
