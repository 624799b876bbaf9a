"""Errors in the client's format: JSON for programs, a plain page for a person's browser."""

from collections.abc import Mapping
from html import escape

from starlette.responses import HTMLResponse
from starlette.types import ASGIApp, Scope

from storage.rules.errors import ServiceError
from web.errors import STATUS
from web.response import error_response

_PAGE = """<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark"><title>{message}</title></head>
<body><main><h1>{message}</h1><p>{hint}</p>
<nav aria-label="Site"><a href="/">Start page</a> · <a href="/programs">Programs</a> · <a href="/docs">Guides</a></nav>
<p>Error {status} <code>{code}</code>, request <code>{request_id}</code></p></main></body>
</html>
"""


def error_in_client_format(error: ServiceError, scope: Scope, headers: Mapping[str, str] | None = None) -> ASGIApp:
    """Return the response to a request that ended in an error, with further headers."""
    response = error_response(error, scope)
    response.headers = {**response.headers, **(headers or {})}
    if not accepts_html(scope):
        return response
    words = {"message": error.text, "hint": error.advice, "code": error.code, "request_id": scope["request_id"]}
    html = _PAGE.format(status=int(STATUS[error.code]), **{name: escape(text) for name, text in words.items()})
    return HTMLResponse(html, response.status, response.headers)


def accepts_html(scope: Scope) -> bool:
    """Return whether a person's browser sent the request: programs do not accept HTML."""
    return any(name == b"accept" and b"text/html" in value for name, value in scope["headers"])
