"""How tests make calls: with either kind of Track, for a stub."""

import asyncio
from typing import Any

import pytest
from svc_affiliate import AsyncTrack, Track, TrackResult

from tests.sdks.stub import Stub

KEY = "aff_1_secret"
BOTH = pytest.mark.parametrize("kind", [Track, AsyncTrack])


def of(service: Stub, **options: Any) -> Track:
    """Return a Track of the stub's program."""
    given: dict[str, Any] = {"api_key": KEY, **options}
    return Track(base_url=service.base_url, **given)


async def called(kind: type[Track | AsyncTrack], name: str, fields: dict[str, Any], **options: Any) -> TrackResult[Any]:
    """Make one call with either kind."""
    result = getattr(kind(**options), name)(**fields)
    answer: TrackResult[Any] = await result if asyncio.iscoroutine(result) else result
    return answer
