"""Who is signed in, and what they may call: a session's token in `Authorization: Bearer`, or the pages' cookie.

The cookie authenticates reads; a request that changes something must also come from our own pages, which the browser
says in `Sec-Fetch-Site` or `Origin`. An Authorization header is taken alone: no other site can make a browser send it.
"""

from collections.abc import Awaitable, Callable, Collection
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from secrets import token_hex
from typing import Any, TypeVar
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import Response

from presentation.api_request import NO_PROGRAM, ApiRequest, row_id, valid_id
from presentation.operations import Operation, RouteMethod
from storage import Storage
from storage.access import sessions
from storage.access.workspaces import ANYONE, Role, require
from storage.rules import keys
from storage.rules.errors import Forbidden, OwnerRequired, ServiceError
from web import client
from web.response import JsonResponse

COOKIE = "svc_session"
PORTAL, PORTAL_COOKIE = "/portal", "svc_portal"  # the partners' pages, which never read a member's cookie
DEVICE, DEVICE_LIFETIME = "known device", timedelta(days=180)
SAFE_METHODS = ("GET", "HEAD")
ABOUT_COOKIE = (
    "The cookie `svc_session` of our own pages (over https `__Host-svc_session`) is accepted in place of the header."
)
Call = TypeVar("Call", bound=ApiRequest)
Theirs = TypeVar("Theirs", bound="VisitorRequest")


def storage_of(request: Request) -> Storage:
    """Return the app's storage."""
    storage: Storage = request.app.state.storage
    return storage


def time_of(request: Request) -> datetime:
    """Return the current time of the app's clock."""
    at: datetime = request.app.state.clock()
    return at


async def visitor(request: Request, program_id: int | None = None) -> sessions.Visitor:
    """Return the signed-in member, of a program if one is named. Raises Forbidden."""
    storage = storage_of(request)
    at = time_of(request)
    token_hash = presented(request)
    if token_hash is None:
        raise Forbidden("You must be signed in.") if program_id is None else Forbidden
    signed_in = await storage.read(sessions.identify, token_hash, program_id, at=at)
    if at - signed_in.used_at >= sessions.USED_EVERY:
        with suppress(ServiceError):  # where the database takes no writes, the session's holder reads on
            await storage.write(sessions.use, sessions.by_token(token_hash), at=at)
    return signed_in


def presented(request: Request) -> str | None:
    """Return the hash of a request's session token, if it has one."""
    cookie = request.cookies.get(cookie_name(request)) if is_our_own(request) else None
    header = request.headers.get("authorization")
    token = cookie if header is None else client.bearer(header)
    return keys.digest(token) if token else None


def cookie_flags(request: Request) -> dict[str, Any]:
    """Return what keeps a cookie from scripts, other sites' forms and, over https (also of a proxy), plain requests.

    The portal's cookies are for its own pages alone.
    """
    is_https = request.url.scheme == "https" or request.app.state.settings.base_url.startswith("https://")
    return {"httponly": True, "samesite": "lax", "secure": is_https, "path": PORTAL if is_portal(request) else "/"}


def is_portal(request: Request) -> bool:
    """Return whether a request is for the partners' pages."""
    return request.url.path == PORTAL or request.url.path.startswith(f"{PORTAL}/")


def cookie_name(request: Request) -> str:
    """Return the name of the session's cookie, another one in the portal.

    Over https, browsers take `__Host-` from this host alone.
    """
    is_secure = cookie_flags(request)["secure"]
    if is_portal(request):
        return f"__Secure-{PORTAL_COOKIE}" if is_secure else PORTAL_COOKIE
    return f"__Host-{COOKIE}" if is_secure else COOKIE


def store_session(request: Request, response: Response, started: sessions.Started) -> None:
    """Let the browser store a session's token until the session ends."""
    seconds = int((started.expires_at - time_of(request)).total_seconds())
    response.set_cookie(cookie_name(request), started.token, max_age=seconds, **cookie_flags(request))


def expected_token(request: Request) -> str:
    """Return the CSRF token of this visitor's forms; empty for a visitor who is not signed in."""
    session = request.cookies.get(cookie_name(request))
    return token_of(session) if session else ""


def token_of(session: str) -> str:
    """Return the CSRF token of a session's forms."""
    return keys.digest(f"form of {session}")


def is_our_own(request: Request) -> bool:
    """Return whether a request cannot have been forged by another site: it is a read, or it comes from our pages."""
    site, origin = (request.headers.get(name) for name in ("sec-fetch-site", "origin"))
    if site is None:  # an older browser
        is_ours = origin is not None and urlsplit(origin).netloc == request.headers.get("host")
    else:
        is_ours = site == "same-origin"
    return is_ours or request.method in SAFE_METHODS


def remember_device(request: Request, response: Response, email: str) -> None:
    """Let the browser store, sealed, that it signed in to an account: others' wrong passwords do not slow it down."""
    until = time_of(request) + DEVICE_LIFETIME
    sealed = request.app.state.settings.sealer().seal_until(until, DEVICE, email, token_hex(16))
    seconds = int(DEVICE_LIFETIME.total_seconds())
    response.set_cookie(_device_cookie(email), sealed, max_age=seconds, **cookie_flags(request))


def known_device(request: Request, email: str) -> str | None:
    """Return the name of a browser that signed in to the account before, for its limits; None for any other."""
    sealer = request.app.state.settings.sealer()
    sealed = request.cookies.get(_device_cookie(email), "")
    known = sealer.open_until(time_of(request), DEVICE, sealed)
    return f"device {known[1]}" if known and known[0] == email else None


def _device_cookie(email: str) -> str:
    return f"svc_device_{keys.digest(email)[:8]}"


@dataclass(frozen=True, kw_only=True)
class VisitorRequest(ApiRequest):
    """A request of a signed-in member: about a program if the path names one, else about their account."""

    visitor: sessions.Visitor

    @property
    def shown(self) -> dict[str, Any]:
        """What every page of theirs is rendered from."""
        return {"visitor": self.visitor}

    @property
    def currency(self) -> str:
        """The currency of the program; empty where each has its own."""
        return ""

    @property
    def subject_id(self) -> int:
        return self.program_id or self.visitor.user_id


class WorkspaceRequest(VisitorRequest):
    """A request of a member of a workspace, or of an owner where the route says so."""

    @property
    def subject_id(self) -> int:
        return self.workspace_ids[0]


async def visitor_request(request: Request, _: Collection[Role] = ANYONE) -> VisitorRequest:
    """Return the request of a signed-in member, whatever their roles. Raises Forbidden."""
    return request_of(VisitorRequest, request, await visitor(request))


async def of_workspace(request: Request, roles: Collection[Role] = ANYONE) -> WorkspaceRequest:
    """Return the request of a member of the path's workspace. Raises Forbidden, OwnerRequired."""
    who = await visitor(request)
    workspace_id = valid_id(request.path_params["workspace_id"])
    return request_of(WorkspaceRequest, request, who.in_workspace(workspace_id, roles))


async def of_program(request: Request, roles: Collection[Role]) -> VisitorRequest:
    """Return the request of a member of the path's program, who has one of these roles.

    Raises Forbidden alike without a member and for no such program, OwnerRequired for a member of another role.
    """
    if (program_id := row_id(request.path_params["program_id"])) is None:
        raise Forbidden
    signed_in = await visitor(request, program_id)
    require(signed_in.role, roles)
    return request_of(VisitorRequest, request, signed_in)


def request_of(kind: type[Theirs], request: Request, who: sessions.Visitor, **about: Any) -> Theirs:
    """Return the request of a visitor, who reaches the workspaces of their memberships."""
    about |= {"request": request, "storage": storage_of(request), "at": time_of(request), "visitor": who}
    about |= {"actor": who.actor, "role": who.role, "workspace_ids": who.workspace_ids}
    return kind(**about, program_id=who.program_id or NO_PROGRAM)


def behind(
    operation: Operation[Call],
    identify: Callable[[Request, Collection[Role]], Awaitable[Call]],
    roles: Collection[Role] = ANYONE,
) -> RouteMethod:
    """Return an operation for members with these roles alone. It raises Forbidden, and OwnerRequired for the others."""

    async def handle(request: Request) -> JsonResponse:
        return await operation.handler(await identify(request, roles))

    errors: Any = (Forbidden,) if roles == ANYONE else (Forbidden, OwnerRequired)
    required = {"session": () if roles == ANYONE else sorted(roles)}
    return RouteMethod(handle, operation.description.behind(*errors, security=(required,), description=ABOUT_COOKIE))
