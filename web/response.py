"""Responses: JSON, sent in two messages without Starlette's response classes; errors, as a page for a browser."""

from collections.abc import Awaitable, Callable, Mapping
from html import escape
from http import HTTPStatus
from pathlib import Path
from typing import Any, ClassVar, Generic, TypeVar

from pydantic import BaseModel
from pydantic_core import to_json
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from storage.rules.errors import InternalError, MethodNotAllowed, NotFound, ServiceError
from web.errors import STATUS, error_body, error_headers

Model = TypeVar("Model")
Headers = Mapping[str, str] | None
Respond = Callable[[Request, ServiceError, Headers], Awaitable[ASGIApp]]
_PAGE = Path(__file__).with_name("error.html").read_text(encoding="utf-8")


class JsonResponse:
    """A JSON response; also an ASGI app, so that exception handlers can return it."""

    __slots__ = ("body", "headers", "status")

    def __init__(self, body: Mapping[str, Any], status: int = 200, headers: Headers = None) -> None:
        self.body = body
        self.status = status
        self.headers = headers or {}

    def warn(self, warning: Mapping[str, Any]) -> None:
        self.body = {**self.body, "warnings": [*self.body.get("warnings", ()), warning]}

    def content(self) -> tuple[bytes, bytes]:
        """Return the media type and the body as it is sent."""
        return b"application/json", to_json(self.body)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: ARG002 - ASGI's signature
        """Send it; a HEAD request gets only the headers."""
        media_type, content = self.content()
        headers = [(b"content-type", media_type), (b"content-length", b"%d" % len(content))]
        headers += [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in self.headers.items()]
        await send({"type": "http.response.start", "status": self.status, "headers": headers})
        await send({"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else content})


class ModelResponse(JsonResponse, Generic[Model]):
    """A 200 whose body is a model of the OpenAPI document, or a row's view; a field that was never set is absent."""

    __slots__ = ()
    success: ClassVar[int] = 200

    def __init__(self, model: BaseModel | Mapping[str, Any], headers: Headers = None) -> None:
        body = model.model_dump(exclude_unset=True) if isinstance(model, BaseModel) else model
        super().__init__(body, self.success, headers)


class CreatedResponse(ModelResponse[Model]):
    """A 201 whose body is what was created."""

    __slots__ = ()
    success = 201


class ContentResponse(JsonResponse):
    """A 200 whose body is a file or a page; it is not stored."""

    __slots__ = ("_content", "_media_type")

    def __init__(self, content: bytes, media_type: str, headers: Headers = None) -> None:
        super().__init__({}, headers={"Cache-Control": "no-store", **(headers or {})})
        self._content, self._media_type = content, media_type

    def content(self) -> tuple[bytes, bytes]:
        return self._media_type.encode(), self._content


def error_response(rejection: ServiceError, scope: Scope, headers: Headers = None) -> JsonResponse:
    """Return the response for an error, with further headers, and name the error in the request's scope."""
    scope["error_code"] = rejection.code
    body = error_body(rejection, scope["request_id"])
    return JsonResponse(body, STATUS[rejection.code], {**error_headers(rejection), **(headers or {})})


def error_in_client_format(error: ServiceError, scope: Scope, headers: Headers = None) -> ASGIApp:
    """Return the response to a request that ended in an error, with further headers."""
    response = error_response(error, scope, headers)
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

    async def handle(request: Request, error: Exception) -> ASGIApp:
        if isinstance(error, HTTPException):
            is_method = error.status_code == HTTPStatus.METHOD_NOT_ALLOWED
            return await respond(request, MethodNotAllowed() if is_method else NotFound(), error.headers)
        # Starlette raises what is unexpected on to what logs it
        return await respond(request, error if isinstance(error, ServiceError) else InternalError(), None)

    return dict.fromkeys((ServiceError, HTTPException, Exception), handle)


async def _respond(request: Request, rejection: ServiceError, headers: Headers) -> ASGIApp:
    return error_in_client_format(rejection, request.scope, headers)


HANDLERS = handlers(_respond)
