"""An answer: a status, a JSON body and headers, sent in two messages without Starlette's response machinery."""

from collections.abc import Mapping
from typing import Any

from pydantic_core import to_json
from starlette.types import Receive, Scope, Send

from storage.rules.errors import ServiceError
from web.errors import STATUS, error_body, error_headers


class JsonResponse:
    """A JSON answer; also an ASGI app, so that exception handlers can return it as a response."""

    __slots__ = ("body", "headers", "status")

    def __init__(self, body: Mapping[str, Any], status: int = 200, headers: Mapping[str, str] | None = None) -> None:
        self.body = body
        self.status = status
        self.headers = headers or {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: ARG002 - ASGI's signature
        """Send it; a HEAD request gets the headers alone."""
        content = to_json(self.body)
        headers = [
            (b"content-type", b"application/json"),
            (b"content-length", str(len(content)).encode()),
            *((name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in self.headers.items()),
        ]
        await send({"type": "http.response.start", "status": self.status, "headers": headers})
        await send({"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else content})


def error_response(refusal: ServiceError, request_id: str) -> JsonResponse:
    """Return the answer that says a refusal."""
    return JsonResponse(error_body(refusal, request_id), STATUS[refusal.code], error_headers(refusal))
