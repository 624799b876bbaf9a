"""Errors as JSON for programs and as a page for browsers, and the exception handlers that send them."""

from collections.abc import Awaitable, Callable, Mapping
from html import escape
from http import HTTPStatus
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse
from starlette.types import ASGIApp, Scope

from storage.rules.errors import InternalError, MethodNotAllowed, NotFound, ServiceError
from web.errors import STATUS
from web.response import error_response

Headers = Mapping[str, str] | None
Respond = Callable[[Request, ServiceError, Headers], Awaitable[ASGIApp]]
_PAGE = """<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark"><title>{message}</title></head>
<body><main><h1>{message}</h1><p>{hint}</p>
<nav aria-label="Site"><a href="/">Start page</a> · <a href="/programs">Programs</a> · <a href="/docs">Guides</a></nav>
<p>Error {status} <code>{code}</code>, request <code>{request_id}</code></p></main></body>
</html>
"""


def error_in_client_format(error: ServiceError, scope: Scope, headers: Headers = None) -> ASGIApp:
    """Return the response to a request that ended in an error, with further headers."""
    response = error_response(error, scope, headers or {})
    if not accepts_html(scope):
        return response
    words = {"message": error.text, "hint": error.advice, "code": error.code, "request_id": scope["request_id"]}
    html = _PAGE.format(status=int(STATUS[error.code]), **{name: escape(text) for name, text in words.items()})
    return HTMLResponse(html, response.status, response.headers)


def accepts_html(scope: Scope) -> bool:
    """Return whether a person's browser sent the request: programs do not accept HTML."""
    return any(name == b"accept" and b"text/html" in value for name, value in scope["headers"])


def handlers(respond: Respond) -> Mapping[Any, Any]:
    """Return the exception handlers of an app, which answers every error with `respond`."""

    async def on_service_error(request: Request, error: ServiceError) -> ASGIApp:
        return await respond(request, error, None)

    async def on_http_exception(request: Request, error: HTTPException) -> ASGIApp:
        is_method = error.status_code == HTTPStatus.METHOD_NOT_ALLOWED
        return await respond(request, MethodNotAllowed() if is_method else NotFound(), error.headers)

    async def on_error(request: Request, _: Exception) -> ASGIApp:  # Starlette raises it on to what logs it
        return await respond(request, InternalError(), None)

    return {ServiceError: on_service_error, HTTPException: on_http_exception, Exception: on_error}


async def _respond(request: Request, rejection: ServiceError, headers: Headers) -> ASGIApp:
    return error_in_client_format(rejection, request.scope, headers)


HANDLERS = handlers(_respond)
