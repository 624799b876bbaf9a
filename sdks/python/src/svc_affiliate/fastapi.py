"""FastAPI: declare a parameter `track: Tracking` in a path operation, then `await track.lead(...)`.

Options come from `app.state.svc_affiliate`, a dict, where there is one; else from the environment.
"""

from typing import Annotated

from fastapi import Depends, Request

from svc_affiliate import AsyncTrack

NAME = "svc_affiliate_track"


async def track(request: Request) -> AsyncTrack:
    """Return the application's AsyncTrack, for the visitor of a request."""
    state = request.app.state
    if not hasattr(state, NAME):
        setattr(state, NAME, AsyncTrack(**getattr(state, "svc_affiliate", {})))
    shared: AsyncTrack = getattr(state, NAME)
    return shared.of(request.cookies)


Tracking = Annotated[AsyncTrack, Depends(track)]
