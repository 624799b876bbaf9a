"""POST /api/v1/track/handover and /redeem: pages of a program take a click with its visitor to its other domain."""

from typing import Any, Literal
from urllib.parse import parse_qs

from starlette.types import Receive

from presentation.api_request import row_id
from presentation.view import View, with_fields_of
from storage.rules.errors import OriginNotAllowed, ProgramIdRequired
from storage.tracking import handovers
from storage.tracking.received_calls import Public
from tracking_api.calls.call import Answer, Endpoint, Parsed, Recording, TrackingCaller
from tracking_api.calls.fields import ALLOWED, described
from web.body import Body, Text
from web.response import JsonResponse

SUCCESS: dict[str, Any] = {"success": True}


class HandoverBody(Body):
    """The click that the visitor carries."""

    click_id: Text


class RedeemBody(Body):
    """The token of the link that a visitor followed, and the click that they carry on this domain."""

    token: Text
    existing_click_id: Text | None = None


class AllowedView(View):
    """The page may make the call."""

    success: Literal[True]


class HandoverView(AllowedView):
    """A token for a link to another domain of the program; it works once."""

    token: str
    expires_in_seconds: int


@with_fields_of(handovers.ArrivalResult)
class RedeemedView(AllowedView):
    """The click that the visitor carries from now on: the one that came with them, or the one that they had."""


def handover(body: HandoverBody, caller: TrackingCaller) -> Answer:
    """Issue a token that takes a click to another domain of the program."""
    token = handovers.issue(caller.services.sealer(), _program_of(caller), body.click_id, caller.at)
    return SUCCESS | {"token": token, "expires_in_seconds": int(handovers.LIFETIME.total_seconds())}


def redeem(body: RedeemBody, caller: TrackingCaller) -> Recording:
    """Use a token up and return the click that the visitor then carries."""
    program_id = _program_of(caller)
    opened = handovers.open_token(caller.services.sealer(), program_id, body.token, caller.at)
    arrival = opened._replace(existing_click_id=body.existing_click_id)
    return Recording(handovers.redeem, arrival, lambda carried: SUCCESS | carried._asdict(), public=Public(program_id))


def _program_of(caller: TrackingCaller) -> int:
    sent = parse_qs(caller.scope["query_string"].decode("latin-1")).get("program_id", [""])[0]
    if (program_id := row_id(sent)) is None:
        raise ProgramIdRequired(hint="Send program_id in the query of the URL.")
    return program_id


class _OwnPages(Endpoint[Parsed]):
    """A call for pages on the program's domains, with its preflight response."""

    async def serve(self, caller: TrackingCaller, receive: Receive) -> JsonResponse:
        """Serve a page on the program's domains. Raises OriginNotAllowed for any other."""
        scope = caller.scope
        scope["extra_headers"] = ((b"vary", b"origin"),)
        await caller.services.limits.hit("public", caller.address)
        program_id = _program_of(caller)
        await caller.services.limits.hit("click", caller.address, program_id)
        origin = caller.header(b"origin") or ""
        if not await caller.services.storage.read(handovers.is_own_origin, program_id, origin):
            raise OriginNotAllowed
        scope["extra_headers"] += ((b"access-control-allow-origin", origin.encode()),)
        if scope["method"] == "OPTIONS":
            scope["extra_headers"] += ALLOWED
            return JsonResponse(SUCCESS)
        return await super().serve(caller, receive)


HANDOVER = _OwnPages(handover, HandoverBody, key="ignored")
REDEEM = _OwnPages(redeem, RedeemBody, key="ignored")
HANDOVER_DESCRIPTION = described("handover", HandoverView, body=HandoverBody)
REDEEM_DESCRIPTION = described("redeem", RedeemedView, body=RedeemBody)
PREFLIGHT = described("preflight", AllowedView)
