"""POST /api/v1/track/handover and /redeem: a click goes with its visitor to another domain of the program. Public.

Only pages on the program's own domains may call them: CORS names the page's origin, and the service checks it.
"""

from typing import Any
from urllib.parse import parse_qs

from starlette.types import Receive, Scope, Send

from presentation.operations import ALWAYS, ANYONE, Description, Error, Model
from storage.rules.errors import InvalidHandover, OriginNotAllowed, ProgramIdRequired, ProgramNotFound, RateLimited
from storage.rules.handover import LIFETIME, is_own_origin
from storage.tracking import handovers
from storage.tracking.handovers import Arrival, ArrivalResult
from tracking_api.calls.call import Endpoint, TrackingRequest
from tracking_api.calls.responses import AllowedView, HandoverView, RedeemedView
from tracking_api.cors import ALLOWED
from web.body import Body, Text
from web.response import JsonResponse

_DIGITS = 15
_PROGRAM = {"program_id": "The program's number. Required; a preflight request has no body that could say it."}
_OWN_PAGES = (
    "For the tracker: `Origin` must be on the program's domain, one of its further domains, or a subdomain. "
    "CORS allows this origin alone."
)


class HandoverBody(Body):
    """The click that the visitor carries."""

    click_id: Text


class RedeemBody(Body):
    """The token of the link that a visitor followed, and the click that they carry on this domain."""

    token: Text
    existing_click_id: Text | None = None


async def handover(call: TrackingRequest) -> JsonResponse:
    """Issue a token that takes a click to another domain of the program."""
    program_id = await _program_of_page(call)
    body = await call.parse(HandoverBody)
    token = call.services.handover_tokens.issue(program_id, body.click_id, call.at)
    return JsonResponse({"success": True, "token": token, "expires_in_seconds": int(LIFETIME.total_seconds())})


async def redeem(call: TrackingRequest) -> JsonResponse:
    """Use a token up and return the click that the visitor then carries."""
    program_id = await _program_of_page(call)
    body = await call.parse(RedeemBody)
    handed = call.services.handover_tokens.open(program_id, body.token, call.at)
    arrival = Arrival(program_id, handed, body.existing_click_id, call.at)
    carried: ArrivalResult = await call.storage.write(handovers.redeem, arrival, lane=program_id)
    return JsonResponse({"success": True, **carried._asdict()})


async def preflight(call: TrackingRequest) -> JsonResponse:
    """Say whether the page may make the call."""
    await _program_of_page(call)
    call.scope["extra_headers"] += ALLOWED
    return JsonResponse({"success": True})


async def _program_of_page(call: TrackingRequest) -> int:
    """Return the program of the page that calls. Raises OriginNotAllowed for a page that is not on its domains."""
    call.scope["extra_headers"] = ((b"vary", b"origin"),)
    await call.limit("public")
    sent = parse_qs(call.scope["query_string"].decode("latin-1")).get("program_id", [""])[0]
    if not (sent.isascii() and sent.isdecimal() and len(sent) <= _DIGITS):
        raise ProgramIdRequired(hint="Send program_id in the query of the URL.")
    program_id = int(sent)
    await call.limit("click", program_id)
    await call.require_program(program_id)
    origin = call.header(b"origin") or ""
    if not is_own_origin(origin, await call.storage.read(handovers.domains_of, program_id)):
        raise OriginNotAllowed
    call.scope["extra_headers"] += ((b"access-control-allow-origin", origin.encode()),)
    return program_id


class _OwnPages:
    """An endpoint for pages on the program's domains, with its preflight response."""

    def __init__(self, call: Endpoint) -> None:
        self._call = call
        self._preflight = Endpoint(preflight, public=True)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        chosen = self._preflight if scope["method"] == "OPTIONS" else self._call
        await chosen(scope, receive, send)


def _described(name: str, summary: str, view: Model, *errors: Error, **options: Any) -> Description:
    common: tuple[Error, ...] = (ProgramIdRequired, ProgramNotFound, OriginNotAllowed, RateLimited, *errors, *ALWAYS)
    described = Description(name, summary, {200: (view,)}, common, description=_OWN_PAGES, tag="tracking")
    return described._replace(security=(ANYONE,), query=_PROGRAM, response_headers=("Vary",), **options)


HANDOVER = _OwnPages(Endpoint(handover, public=True))
REDEEM = _OwnPages(Endpoint(redeem, public=True))
HANDOVER_DESCRIPTION = _described(
    "issueHandover", "Issue a token that takes a click to another domain", HandoverView, body=HandoverBody
)
REDEEM_DESCRIPTION = _described(
    "redeemHandover",
    "Use a token up and say which click the visitor carries",
    RedeemedView,
    InvalidHandover,
    body=RedeemBody,
)
PREFLIGHT = _described("preflight", "CORS preflight", AllowedView)
