"""One URL of the dashboard: its handlers by method, the security headers, and errors as pages for people."""

import logging
import re
from collections.abc import Awaitable, Callable
from contextlib import suppress
from http import HTTPStatus
from typing import Any
from urllib.parse import urlencode

from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp

from storage.rules.errors import Forbidden, InternalError, ServiceError
from tracking_api.dashboard import authentication
from tracking_api.dashboard.pages import forms, notices, page_context, sign_in, templates, text
from web.errors import STATUS, error_headers
from web.response import Headers, accepts_html, error_in_client_format, handlers

Handler = Callable[[Request], Awaitable[Response]]
Shown = Callable[[Request, Any], Awaitable[Response]]  # of an error
# Pages are compressed for these alone: another site could learn a secret from the sizes of what it requests (BREACH).
_OWN_VISITS = {"same-origin", "none"}
SESSION_ENDED = Forbidden(
    "Your session has ended. What you entered is kept: sign in, and you can send it.", hint="Sign in again."
)
_PROGRAM = re.compile(r"/programs/([0-9]{1,9})(?:/.*)?")
log = logging.getLogger(__name__)


def page(path: str, *, forbidden: Shown | None = None, rejection: Shown | None = None, **methods: Handler) -> Route:
    """Return the route of a page: `page("/account", GET=show, POST=change)`; the portal shows errors its own way."""
    show_forbidden, show_rejected = forbidden or _forbidden, rejection or rejected

    async def serve(request: Request) -> ASGIApp:
        request.scope["extra_headers"] = templates.HEADERS  # web.middleware sends them with every response
        text.show_to(request)
        try:
            response = await methods["GET" if request.method == "HEAD" else request.method](request)
        except Forbidden as error:
            response = await show_forbidden(request, error)
        except ServiceError as error:
            response = await show_rejected(request, error)
        except Exception:
            log.exception("page %s failed, request %s", request.url.path, request.scope.get("request_id"))
            response = await show_rejected(request, InternalError())
        is_own = request.headers.get("sec-fetch-site") in _OWN_VISITS
        return GZipMiddleware(response, compresslevel=5) if is_own else response

    return Route(path, serve, methods=list(methods), include_in_schema=False)


async def _forbidden(request: Request, rejection: Forbidden) -> Response:
    """Show the error, or offer a stale form again; let a visitor who is not signed in sign in and go on.

    They come back to this page, or to the page that a form or a part for htmx is from.
    """
    try:
        await authentication.visitor(request)
    except Forbidden:
        is_read = request.method in authentication.SAFE_METHODS
        is_part = request.headers.get("hx-request") == "true"
        back = forms.path_of(request.url) if is_read and not is_part else sign_in.page_of(request)
        held = "" if is_read else await sign_in.sealed(request)
        if held:
            return sign_in.show_form(request, {"next": back, "held": held}, SESSION_ENDED)
        path = f"/sign-in?{urlencode({'next': back})}"
        return Response(headers={"HX-Redirect": path}) if is_read and is_part else notices.redirect(path)
    held_form = await sign_in.hold(request) if isinstance(rejection, forms.StaleForm) else None
    if held_form:
        csrf = authentication.expected_token(request)
        return sign_in.offer(request, held_form, csrf=csrf, status=STATUS[rejection.code])
    return await rejected(request, rejection)


async def rejected(request: Request, rejection: ServiceError) -> Response:
    """Return the page that shows an error and what to do; what an endpoint said about this case stays."""
    status = STATUS[rejection.code]
    request.scope["error_code"] = rejection.code
    request.scope["extra_headers"] = templates.HEADERS
    page = sign_in.page_of(request)
    is_unavailable = status == HTTPStatus.SERVICE_UNAVAILABLE
    response = templates.render(
        request,
        "rejected.html",
        status=status,
        code=int(status),
        rejection=rejection,
        back=None if page == request.url.path else page,
        again=request.url.path if is_unavailable and request.method in authentication.SAFE_METHODS else None,
        request_id=request.scope["request_id"],
        **({} if is_unavailable else await _menus(request)),
    )
    response.headers.update(error_headers(rejection))
    return response


async def _menus(request: Request) -> dict[str, Any]:
    """Return what the page's menus need: the visitor, and the program that the URL is about, if they may see it."""
    program, found = _PROGRAM.fullmatch(request.url.path), dict[str, Any]()
    with suppress(ServiceError):  # of a stranger, or another program
        found["visitor"] = await authentication.visitor(request)
        if program:
            request.scope["path_params"] = {"program_id": program[1]}
            found["context"] = await page_context.as_member(request)
    return found


async def _respond(request: Request, rejection: ServiceError, headers: Headers) -> ASGIApp:
    if accepts_html(request.scope):
        return await rejected(request, rejection)
    return error_in_client_format(rejection, request.scope, headers)


HANDLERS = handlers(_respond)
