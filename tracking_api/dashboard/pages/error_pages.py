"""Errors as pages for people: what happened, what to do, the way back, and the menu of who is signed in."""

import math
import re
from contextlib import suppress
from http import HTTPStatus
from typing import Any, NamedTuple

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp

from storage.rules.errors import ServiceError
from tracking_api.dashboard import authentication
from tracking_api.dashboard.pages import held_forms, page_context, templates
from tracking_api.dashboard.pages.templates import HEADERS
from web.error_page import Headers, accepts_html, error_in_client_format, handlers
from web.errors import STATUS, error_headers

_PROGRAM = re.compile(r"/programs/([0-9]{1,9})(?:/.*)?")
_MINUTE = 60


class Words(NamedTuple):
    """An error for people, who send no requests and know no ids."""

    title: str
    advice: str


MISSING = Words("This page does not exist", "Check the address. What it showed may have been deleted.")
WORDS = {
    "forbidden": Words("You may not open this page", "Ask an owner of the workspace, or sign in with another account."),
    "not_found": MISSING,
    "method_not_allowed": MISSING,
    "validation_error": Words(
        "Something in the form or the address is not right", "Go back, correct it, and try again."
    ),
    "invalid_period": Words("There is no such period", "Choose one of the list, or two days."),
    "invalid_range": Words(
        "These days do not work", "Choose a first and a last day, in order, at most five years apart."
    ),
    "payload_too_large": Words("This is too much to send at once", "Choose less, or a smaller file."),
    "internal_error": Words(
        "Something went wrong on this server",
        "Try again. If it happens again, send the request id to the operator of this server.",
    ),
    "overloaded": Words("The server is busy", "Wait a few seconds, then load this page again."),
    "storage_unavailable": Words("The server cannot reach its database", "Wait a minute, then load this page again."),
    "outcome_unknown": Words(
        "The server stopped before it could confirm this", "Open the page again to see whether it was saved."
    ),
}


async def rejected(request: Request, rejection: ServiceError) -> Response:
    """Return the page that shows an error and what to do."""
    status = STATUS[rejection.code]
    request.scope["error_code"] = rejection.code
    request.scope["extra_headers"] = HEADERS
    page = held_forms.page_of(request)
    is_unavailable = status == HTTPStatus.SERVICE_UNAVAILABLE
    response = templates.render(
        request,
        "rejected.html",
        status=status,
        code=int(status),
        words=in_words(rejection),
        rejection=rejection,
        back=None if page == request.url.path else page,
        again=request.url.path if is_unavailable and request.method in authentication.SAFE_METHODS else None,
        request_id=request.scope["request_id"],
        **await _menus(request, has_data=not is_unavailable),
    )
    response.headers.update(error_headers(rejection))
    return response


def in_words(rejection: ServiceError) -> Words:
    """Return an error for people; what an endpoint said about this case stays."""
    words = WORDS.get(rejection.code, Words(rejection.text, rejection.advice))
    seconds = rejection.details.get("retry_after_seconds")
    if rejection.code == "rate_limited" and seconds is not None:
        minutes = math.ceil(seconds / _MINUTE)
        words = Words("Too many tries", f"Wait {minutes} minute{'s' if minutes > 1 else ''}, then try again.")
    title = words.title if rejection.text == rejection.message else rejection.text
    return Words(title, words.advice if rejection.advice == rejection.hint else rejection.advice)


async def _menus(request: Request, *, has_data: bool) -> dict[str, Any]:
    """Return what the page's menus need: the visitor, and the program that the URL is about, if they may see it.

    Where the database is not asked, a browser with a session keeps its links.
    """
    program = _PROGRAM.fullmatch(request.url.path)
    has_session = not has_data and authentication.presented(request) is not None
    path = f"/programs/{program[1]}" if program and has_session else None
    found: dict[str, Any] = {"has_session": has_session, "program_path": path}
    if has_data:
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
