"""The OpenAPI 3.1 document: built once, from the operations that each app lists beside its route table."""

import re
from collections.abc import Iterable, Mapping, Sequence
from http import HTTPStatus
from itertools import chain
from types import MappingProxyType
from typing import Any, NamedTuple

from pydantic import BaseModel
from pydantic.json_schema import models_json_schema
from starlette.requests import Request
from starlette.types import Receive, Scope, Send

from storage.rules.errors import BY_CODE, CODES, ServiceError
from web.error_model import Error
from web.errors import STATUS

VERSION = "1.0.0"
JSON = "application/json"
NAMED = re.compile(r"{(\w+)}")
INFO = """\
Records clicks, leads, sales and refunds of affiliate programs.

Every answer carries `X-Request-Id`. Every error has the body `Error`; branch on `error.code`, never on a message. The
codes are the closed list `ErrorCode`, and each operation lists the ones it gives. An address that is not in this
document answers 404 `not_found`; a method that its address does not list, 405 `method_not_allowed` with `Allow` (HEAD
is answered wherever GET is). Fields that a request does not know are ignored; clients must ignore unknown ones in
answers. Beside it are the pages, `/mcp`, and what assistants sign in by (`/.well-known/oauth-authorization-server`).
"""
Model = type[BaseModel]
Refusals = Mapping[int, Sequence[type[ServiceError]]]


class Operation(NamedTuple):
    """One method at one path, with the exact list of what it answers.

    `answers` gives the models of each good status (none: no JSON body), `refusals` the codes of each bad one;
    `security` the alternative credentials (None: without). `headers` describes optional request headers;
    `answer_headers` names, out of HEADERS, those that its answers may carry. `query` describes optional query
    parameters. `media` is what a good answer is.
    """

    method: str
    path: str
    name: str
    summary: str
    answers: Mapping[int, Sequence[Model]]
    refusals: Refusals = MappingProxyType({})
    body: Model | None = None
    description: str = ""
    tag: str = "tracking"
    security: Sequence[str | None] = ()
    headers: Mapping[str, str] = MappingProxyType({})
    answer_headers: Sequence[str] = ()
    media: str = JSON
    query: Mapping[str, str] = MappingProxyType({})


SECURITY = {
    "programKey": {
        "type": "http",
        "scheme": "bearer",
        "description": "The program's API key, `aff_...`: an owner generates it in the dashboard.",
    },
    "session": {
        "type": "http",
        "scheme": "bearer",
        "description": "The token of a dashboard session, `ses_...`, from POST /api/auth/login.",
    },
    "agentKey": {
        "type": "http",
        "scheme": "bearer",
        "description": "An agent key, `agt_...`, issued by the operator with scopes; `X-Agent-Key` takes it, too.",
    },
}
HEADERS: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "X-Request-Id": ("Names this request in logs and error bodies.", {"type": "string", "pattern": "^[0-9a-f]{16}$"}),
    "Retry-After": ("Seconds to wait before the next try.", {"type": "integer", "minimum": 1}),
    "Deprecation": ("RFC 9745: when the key was flagged.", {"type": "string", "pattern": "^@[0-9]+$"}),
    "Sunset": ("RFC 8594: the deadline; the key is refused from then on.", {"type": "string"}),
    "ETag": ("The version of what was sent.", {"type": "string", "pattern": '^(W/)?"[0-9a-f]+"$'}),
    "Cache-Control": ("For how long it may be kept.", {"type": "string"}),
    "Content-Location": ("The name under which this version never changes.", {"type": "string"}),
    "Vary": ("On what the bytes depend.", {"type": "string"}),
    "Idempotency-Replayed": ("This is the first answer again.", {"type": "string", "const": "true"}),
    "Link": ("Where to read about key rotation.", {"type": "string"}),
    "Access-Control-Allow-Origin": ("Any page may call this.", {"type": "string", "const": "*"}),
    "Access-Control-Allow-Methods": ("What a page may send.", {"type": "string"}),
    "Access-Control-Allow-Headers": ("Which headers a page may set.", {"type": "string"}),
    "Access-Control-Max-Age": ("Seconds for which this holds.", {"type": "integer"}),
}
ALWAYS_SENT = ("X-Request-Id", "Access-Control-Allow-Origin")
RETRIED = (429, 503)


def refusing(*refusals: type[ServiceError]) -> Refusals:
    """Return the refusals under the status that each is answered with."""
    statuses = sorted({int(STATUS[refusal.code]) for refusal in refusals})
    return {status: [refusal for refusal in refusals if STATUS[refusal.code] == status] for status in statuses}


def document(operations: Sequence[Operation], *, base_url: str) -> dict[str, Any]:
    """Return the document that describes these operations, served at `base_url`."""
    paths: dict[str, dict[str, Any]] = {}
    for operation in operations:
        paths.setdefault(operation.path, {})[operation.method.lower()] = _operation(operation)
    return {
        "openapi": "3.1.0",
        "info": {"title": "Affiliate Tracking Service", "version": VERSION, "description": INFO},
        "servers": [{"url": base_url}],
        "paths": paths,
        "components": {
            "schemas": _schemas(operations),
            "headers": {name: _header(name) for name in HEADERS},
            "securitySchemes": SECURITY,
        },
    }


class Published:
    """The document as an endpoint: its bytes are made once."""

    def __init__(self, content: bytes) -> None:
        self._content = content

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: ARG002 - ASGI's signature
        """Send the bytes; a HEAD request gets the headers alone."""
        length = str(len(self._content)).encode()
        headers = [(b"content-type", b"application/json"), (b"content-length", length)]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else self._content})


async def endpoint(request: Request) -> Published:
    """Answer with the document of the app."""
    return Published(request.app.state.openapi)


def _operation(operation: Operation) -> dict[str, Any]:
    described: dict[str, Any] = {
        "operationId": operation.name,
        "tags": [operation.tag],
        "summary": operation.summary,
        "security": [{name: []} if name else {} for name in operation.security],
        "responses": {**_answers(operation), **_refusals(operation)},
    }
    if operation.description:
        described["description"] = operation.description
    if parameters := _parameters(operation):
        described["parameters"] = parameters
    if operation.body:
        required = operation.method != "HEAD"
        described["requestBody"] = {"required": required, "content": _json({"$ref": _ref(operation.body.__name__)})}
    return described


def _parameters(operation: Operation) -> list[dict[str, Any]]:
    text = {"type": "string"}
    path = [{"name": name, "in": "path", "required": True, "schema": text} for name in NAMED.findall(operation.path)]
    headers = [
        {"name": name, "in": "header", "required": False, "description": meaning, "schema": text}
        for name, meaning in operation.headers.items()
    ]
    query = [
        {"name": name, "in": "query", "required": False, "description": meaning, "schema": text}
        for name, meaning in operation.query.items()
    ]
    return [*path, *query, *headers]


def _answers(operation: Operation) -> dict[str, Any]:
    return {
        str(status): _response(operation, status, _content(operation, models), operation.summary)
        for status, models in operation.answers.items()
    }


def _refusals(operation: Operation) -> dict[str, Any]:
    return {
        str(status): _response(operation, status, _json(_error(refusals)), _explained(refusals))
        for status, refusals in operation.refusals.items()
    }


def _explained(errors: Iterable[type[ServiceError]]) -> str:
    return "\n".join(f"- `{error.code}`: {error.message} {error.hint}" for error in errors)


def _response(operation: Operation, status: int, content: Mapping[str, Any] | None, text: str) -> dict[str, Any]:
    retried = ["Retry-After"] if status in RETRIED and operation.tag != "probes" else []
    names = ["X-Request-Id", *operation.answer_headers, *retried]
    response: dict[str, Any] = {
        "description": text,
        "headers": {name: {"$ref": f"#/components/headers/{name}"} for name in names},
    }
    if content is not None and operation.method != "HEAD" and status != HTTPStatus.NOT_MODIFIED:
        response["content"] = content
    return response


def _json(schema: Mapping[str, Any]) -> dict[str, Any]:
    return {JSON: {"schema": schema}}


def _content(operation: Operation, models: Sequence[Model]) -> Mapping[str, Any] | None:
    if operation.media != JSON:
        return {operation.media: {"schema": {"type": "string"}}}
    references = [{"$ref": _ref(model.__name__)} for model in models]
    if not references:
        return None
    return _json(references[0] if len(references) == 1 else {"anyOf": references})


def _error(refusals: Sequence[type[ServiceError]]) -> dict[str, Any]:
    codes = {"enum": [refusal.code for refusal in refusals]}
    narrowed = {"properties": {"error": {"properties": {"code": codes}}}}
    return {"allOf": [{"$ref": _ref("Error")}, narrowed]}


def _header(name: str) -> dict[str, Any]:
    text, schema = HEADERS[name]
    return {"description": text, "required": name in ALWAYS_SENT, "schema": schema}


def _ref(name: str) -> str:
    return f"#/components/schemas/{name}"


def _schemas(operations: Sequence[Operation]) -> dict[str, Any]:
    bodies = [operation.body for operation in operations if operation.body]
    answered = chain.from_iterable(chain.from_iterable(operation.answers.values()) for operation in operations)
    models: dict[Model, None] = dict.fromkeys([*bodies, *answered, Error])
    # "validation" for answers too: there, a member with a default is one that may be absent.
    _, definitions = models_json_schema([(model, "validation") for model in models], ref_template=_ref("{model}"))
    schemas = {
        **definitions["$defs"],
        "ErrorCode": {"type": "string", "enum": CODES, "description": _explained(BY_CODE.values())},
    }
    schemas["ErrorObject"]["properties"]["code"] = {"$ref": _ref("ErrorCode")}
    return schemas
