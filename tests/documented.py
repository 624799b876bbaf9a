"""Compares every response with the OpenAPI document: status, headers, body, and the exact codes of its operation."""

import copy
import json
import re
from functools import cache
from typing import Any

import httpx
from jsonschema_rs import validator_for

import agent_api.app
import tracking_api.app
from presentation import openapi
from web.middleware import RequestMiddleware

DOCUMENT = openapi.document([*tracking_api.app.ROUTES, *agent_api.app.ROUTES], base_url="http://svc.test")
TEMPLATES: list[tuple[re.Pattern[str], dict[str, Any]]] = [
    (re.compile(openapi.NAMED.sub("[^/]+", template)), operations) for template, operations in DOCUMENT["paths"].items()
]
OPEN = {"Document"}
UNLISTED = {404: "not_found", 405: "method_not_allowed"}


def _closed_components() -> dict[str, Any]:
    """The document's components, with members that it does not name forbidden: nothing leaves undocumented."""
    components: dict[str, Any] = copy.deepcopy(DOCUMENT["components"])
    for name, schema in components["schemas"].items():
        if "properties" in schema and name not in OPEN:
            schema["additionalProperties"] = False
    return components


COMPONENTS = _closed_components()


def codes(operation: dict[str, Any]) -> set[str]:
    schemas = [
        response["content"]["application/json"]["schema"]
        for status, response in operation["responses"].items()
        if int(status) >= 400 and "content" in response
    ]
    return {code for schema in schemas for code in schema["properties"]["error"]["properties"]["code"]["enum"]}


def transport_to(app: Any, **options: Any) -> httpx.ASGITransport:
    """Return what carries requests to an app in this process."""
    return httpx.ASGITransport(RequestMiddleware(app), **options)


def client(transport: httpx.ASGITransport) -> httpx.AsyncClient:
    """Return a client of an app in this process; the document describes every response that it gets."""
    return httpx.AsyncClient(
        transport=transport, base_url="http://svc.test", event_hooks={"response": [_read_and_check]}
    )


async def _read_and_check(answer: httpx.Response) -> None:
    await answer.aread()
    check(answer)


def check(answer: httpx.Response) -> None:
    """Assert that the document describes this response."""
    assert answer.headers["x-request-id"]
    request = answer.request
    operations = _operations(request.url.path)
    method = "get" if request.method == "HEAD" and "head" not in operations else request.method.lower()
    if method in operations:
        _check_response(operations[method]["responses"], answer)
    else:
        status = 405 if operations else 404
        assert (answer.status_code, answer.json()["error"]["code"]) == (status, UNLISTED[status])


def _operations(path: str) -> dict[str, Any]:
    """The operations of a path, whose ids the document leaves open."""
    for template, operations in TEMPLATES:
        if template.fullmatch(path):
            return operations
    return {}


def _check_response(responses: dict[str, Any], answer: httpx.Response) -> None:
    assert str(answer.status_code) in responses, f"{answer.status_code} is not documented: {answer.text}"
    response = responses[str(answer.status_code)]
    missing = [
        name
        for name in response["headers"]
        if DOCUMENT["components"]["headers"][name]["required"] and name not in answer.headers
    ]
    assert missing == []
    schema = response.get("content", {}).get("application/json", {}).get("schema")
    if schema and answer.request.method != "HEAD":
        _validator(json.dumps(schema)).validate(answer.json())


@cache
def _validator(schema: str) -> Any:
    """Return what checks a body; many responses share a schema."""
    return validator_for({**json.loads(schema), "components": COMPONENTS})
