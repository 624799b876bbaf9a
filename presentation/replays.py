"""Rejected calls performed after all: by ids or by cause, and those that came with a replaced key."""

from typing import Annotated

from pydantic import Field, StringConstraints

from presentation.api_request import ApiRequest
from presentation.changes import LargeId
from presentation.operations import operation
from storage.diagnosis.key_rotation import KeyRotation, check_rotation
from storage.management import replays
from storage.management.replays import MOST_AT_ONCE, OldKeyDecision, Replay
from storage.rules.errors import OverCap
from web.body import Body

Code = Annotated[str, StringConstraints(pattern=r"^[a-z_]{1,64}$")]
Caller = Annotated[str, StringConstraints(max_length=192)]


class ReplayQuery(Body):
    """The rejected calls to perform: their `ids`, or all with one error code as their `cause` (`all`: with any)."""

    ids: Annotated[list[LargeId], Field(min_length=1, max_length=MOST_AT_ONCE)] | None = None
    cause: Code | None = None


class OldKeyDecisionBody(Body):
    """What to do with the calls that came with a replaced key: those of one `caller` (or `unknown` ones), or all."""

    decision: OldKeyDecision
    caller: Caller | None = None


@operation(OverCap)
async def replay_calls(call: ApiRequest, sent: ReplayQuery) -> Replay:
    """Perform rejected calls as of their own day, at most once."""
    return await call.write(replays.replay, **dict(sent), sealer=call.sealer)


@operation()
async def get_key_rotation(call: ApiRequest) -> KeyRotation:
    """Return how far the replacement of the program key is, and the calls that wait."""
    return await call.read(check_rotation, at=call.at)


@operation()
async def decide_old_key(call: ApiRequest, sent: OldKeyDecisionBody) -> Replay:
    """Accept or discard the calls that came with a replaced key."""
    return await call.write(replays.decide_old_key, **dict(sent), sealer=call.sealer)
