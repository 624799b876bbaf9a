"""Who views a page, and how they see times: in their workspace's time zone, with the hours that they chose."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from babel import Locale

from storage.access.preferences import Preferences, TimeFormat
from storage.access.sessions import Member, Membership, Visitor
from storage.rules.periods.time_zones import UTC
from tracking_api.dashboard.pages import locales


class Viewer(NamedTuple):
    """A signed-in person and the workspace whose page they view; a page without a workspace takes their first."""

    email: str
    workspace: Membership
    preferences: Preferences

    @property
    def name(self) -> str:
        """What the person is called."""
        return self.preferences.name or self.email


class Clock(NamedTuple):
    """The zone and the format in which a page writes times, and the locale of its days and amounts."""

    zone: ZoneInfo
    hours: TimeFormat
    locale: Locale


_NO_VIEWER = Clock(ZoneInfo(UTC), TimeFormat.HOURS_24, locales.DEFAULT)
_clock: ContextVar[Clock] = ContextVar("clock", default=_NO_VIEWER)


def viewer_of(values: Mapping[str, Any]) -> Viewer | None:
    """Return the viewer among a page's values: the context's member, or the visitor."""
    context, visitor = values.get("context"), values.get("visitor")
    viewer = None
    if context is not None:
        member: Member = context.member
        viewer = Viewer(member.email, member.workspace, member.preferences)
    elif isinstance(visitor, Visitor):
        viewer = Viewer(visitor.email, visitor.memberships[0], visitor.preferences)
    return viewer


@contextmanager
def shown_to(viewer: Viewer | None, locale: Locale) -> Iterator[None]:
    """Write the times, days and amounts of a page for a viewer."""
    clock = _NO_VIEWER._replace(locale=locale)
    if viewer:
        clock = Clock(_zone(viewer.workspace.time_zone), viewer.preferences.time_format, locale)
    token = _clock.set(clock)
    try:
        yield
    finally:
        _clock.reset(token)


def clock() -> Clock:
    """Return how this page writes times."""
    return _clock.get()


def zone_name() -> str:
    """Return what stands after a time: UTC, or Berlin time."""
    key = _clock.get().zone.key
    return key if key == UTC else f"{key.rpartition('/')[2].replace('_', ' ')} time"


def _zone(name: str) -> ZoneInfo:
    """Return a time zone, UTC if this server does not know it."""
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError):
        return ZoneInfo(UTC)
