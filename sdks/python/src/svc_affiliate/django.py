"""Django: `track(request).lead(...)` in a view; options in the dict `settings.SVC_AFFILIATE`, else the environment."""

from functools import cache
from typing import Any

from django.conf import settings
from django.http import HttpRequest

from svc_affiliate import AsyncTrack, Track


def track(request: HttpRequest | None = None) -> Track:
    """Return the shop's Track, for the visitor of a request where there is one."""
    return _shared(Track).of(request.COOKIES if request else {})


def atrack(request: HttpRequest | None = None) -> AsyncTrack:
    """Return the same for asynchronous views, which await what its methods return."""
    return _shared(AsyncTrack).of(request.COOKIES if request else {})


@cache
def _shared(kind: Any) -> Any:
    return kind(**getattr(settings, "SVC_AFFILIATE", {}))
