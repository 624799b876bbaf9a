"""One URL of the dashboard: its handlers by method, the security headers, and errors as pages."""

import logging
from collections.abc import Awaitable, Callable, Mapping
from urllib.parse import urlencode

from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from storage.rules.errors import Forbidden, InternalError, ServiceError
from tracking_api.dashboard import authentication
from tracking_api.dashboard.pages import forms, held_forms, notices, sign_in, viewing
from tracking_api.dashboard.pages.error_pages import rejected
from tracking_api.dashboard.pages.forms import StaleForm
from tracking_api.dashboard.pages.sign_in import Afterwards
from tracking_api.dashboard.pages.templates import HEADERS, POLICY
from web.errors import STATUS

Handler = Callable[[Request], Awaitable[Response]]
# Pages are compressed for these alone: another site could learn a secret from the sizes of what it requests (BREACH).
_OWN_VISITS = {"same-origin", "none"}
SESSION_ENDED = Forbidden(
    "Your session has ended. What you entered is kept: sign in, and you can send it.", hint="Sign in again."
)
log = logging.getLogger(__name__)


def page(path: str, **handlers: Handler) -> Route:
    """Return the route of a page: `page("/account", GET=show, POST=change)`."""
    return Route(path, _Page(handlers), methods=list(handlers), include_in_schema=False)


class _Page:
    """The ASGI app of a page."""

    def __init__(self, handlers: Mapping[str, Handler]) -> None:
        self._handlers = handlers

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        scope["extra_headers"] = HEADERS  # web.middleware sends them with every response
        request = Request(scope, receive)
        response: ASGIApp = await self._respond(request)
        if request.headers.get("sec-fetch-site") in _OWN_VISITS:
            response = GZipMiddleware(response, compresslevel=5)
        await response(scope, receive, send)

    async def _respond(self, request: Request) -> Response:
        viewing.show_to(request)
        handler = self._handlers["GET" if request.method == "HEAD" else request.method]
        try:
            return await handler(request)
        except Forbidden as rejection:
            return await _forbidden(request, rejection)
        except ServiceError as rejection:
            return await rejected(request, rejection)
        except Exception:
            log.exception("page %s failed, request %s", request.url.path, request.scope.get("request_id"))
            return await rejected(request, InternalError())


def lead_forms_to(request: Request, origin: str) -> None:
    """Allow this page's form to end at another origin: browsers also check the redirects of its response."""
    request.scope["extra_headers"] = ((HEADERS[0][0], f"{POLICY} {origin}".encode()), *HEADERS[1:])


async def _forbidden(request: Request, rejection: Forbidden) -> Response:
    """Let a visitor who is not signed in sign in and go on; show others the error."""
    is_read = request.method in authentication.SAFE_METHODS
    try:
        await authentication.visitor(request)
    except Forbidden:
        if is_read:
            return _read_again(request)
        held = held_forms.seal(request, await held_forms.hold(request))
        page = held_forms.page_of(request)
        return sign_in.show_form(request, Afterwards(page, held), rejection=SESSION_ENDED) if held else _sign_in(page)
    held_form = await held_forms.hold(request) if isinstance(rejection, StaleForm) else None
    if held_form:
        csrf = forms.expected_token(request)
        return held_forms.offer(request, held_form, csrf=csrf, status=STATUS[rejection.code])
    return await rejected(request, rejection)


def _read_again(request: Request) -> Response:
    """Lead to the sign-in page and back to this page; a part of a page that htmx requests leads to the whole page."""
    if request.headers.get("hx-request") != "true":
        return _sign_in(f"{request.url.path}?{request.url.query}".removesuffix("?"))
    page = held_forms.page_of(request)
    return Response(headers={"HX-Redirect": _sign_in(page).headers["location"]})


def _sign_in(next_path: str) -> Response:
    return notices.redirect(f"/sign-in?{urlencode({'next': next_path})}")
