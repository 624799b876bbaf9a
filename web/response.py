"""A response: a status, a JSON body and headers, sent in two messages without Starlette's response classes."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, ClassVar, Generic, Self, TypeVar

from pydantic import BaseModel
from pydantic_core import to_json
from starlette.types import Receive, Scope, Send

from storage.rules.errors import ServiceError
from web.errors import STATUS, error_body, error_headers

NONE: Mapping[str, str] = MappingProxyType({})
_JSON = (b"content-type", b"application/json")
Model = TypeVar("Model", bound=BaseModel)


class JsonResponse:
    """A JSON response; also an ASGI app, so that exception handlers can return it."""

    __slots__ = ("body", "headers", "status")

    def __init__(self, body: Mapping[str, Any], status: int = 200, headers: Mapping[str, str] | None = None) -> None:
        self.body = body
        self.status = status
        self.headers = headers or {}

    def warn(self, warning: Mapping[str, Any]) -> None:
        """Add a warning to the body."""
        self.body = {**self.body, "warnings": [*self.body.get("warnings", ()), warning]}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: ARG002 - ASGI's signature
        """Send it; a HEAD request gets only the headers."""
        content = to_json(self.body)
        headers = [_JSON, (b"content-length", b"%d" % len(content))]
        headers += [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in self.headers.items()]
        await send({"type": "http.response.start", "status": self.status, "headers": headers})
        await send({"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else content})


class ModelResponse(JsonResponse, Generic[Model]):
    """A 200 whose body is a model of the OpenAPI document; a field that was never set is absent."""

    __slots__ = ()
    success: ClassVar[int] = 200

    def __init__(self, model: Model, headers: Mapping[str, str] | None = None) -> None:
        self.body = model.model_dump(exclude_unset=True)
        self.status = self.success
        self.headers = headers or {}

    @classmethod
    def stored(cls, body: Mapping[str, Any], headers: Mapping[str, str]) -> Self:
        """Return an earlier response unchanged: the model may have changed since."""
        response = cls.__new__(cls)
        JsonResponse.__init__(response, body, cls.success, headers)
        return response


class CreatedResponse(ModelResponse[Model]):
    """A 201 whose body is what was created."""

    __slots__ = ()
    success = 201


def error_response(rejection: ServiceError, scope: Scope, headers: Mapping[str, str] = NONE) -> JsonResponse:
    """Return the response for an error, with further headers, and name the error in the request's scope."""
    scope["error_code"] = rejection.code
    body = error_body(rejection, scope["request_id"])
    return JsonResponse(body, STATUS[rejection.code], {**error_headers(rejection), **headers})
