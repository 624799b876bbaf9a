"""How people want to see the dashboard: their name, theme and time format."""

from enum import StrEnum
from typing import NamedTuple

from sqlalchemy import Connection, update

from storage.tables import users


class Theme(StrEnum):
    """Light or dark pages, or what the device says."""

    SYSTEM = "system"
    LIGHT = "light"
    DARK = "dark"


class TimeFormat(StrEnum):
    """Hours from 0 to 23, or twice from 1 to 12."""

    HOURS_24 = "24"
    HOURS_12 = "12"


class Preferences(NamedTuple):
    """What a person chose on their account page."""

    name: str | None = None
    theme: Theme = Theme.SYSTEM
    time_format: TimeFormat = TimeFormat.HOURS_24


def change(connection: Connection, user_id: int, chosen: Preferences) -> None:
    """Save an account's preferences."""
    connection.execute(update(users).where(users.c.id == user_id).values(**chosen._asdict()))
