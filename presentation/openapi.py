"""The OpenAPI 3.1 document: built once, when it is first requested, from the routes of the apps."""

import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from http import HTTPStatus
from itertools import chain
from pathlib import Path
from typing import Any

from anyio import to_thread
from pydantic.json_schema import GenerateJsonSchema, models_json_schema
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute

from presentation.operations import Description, described
from presentation.view import View, published_name
from storage.rules.errors import BY_CODE, CODES, ServiceError
from storage.rules.periods.period import REPORTED
from web import dry_run
from web.body import JSON
from web.build import VERSION
from web.errors import STATUS, Error

REFERENCE = "#/components/schemas/{model}"
References = Mapping[Any, Mapping[str, Any]]  # by model
NAMED = re.compile(r"{(\w+)}")
BASE = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
PARAMETERS: Mapping[str, Mapping[str, Any]] = {  # what is not any text
    **BASE.pop("parameters"),
    "period": {"type": "string", "enum": list(REPORTED)},
}
REQUIRED = ("Stripe-Signature",)
RETRIED = (429, 503)
DRY_RUN = {"type": "boolean", "const": True, "description": "The response is of a dry run: nothing was stored."}


def document(routes: Sequence[BaseRoute], *, base_url: str) -> dict[str, Any]:
    """Return the document of these routes, served at `base_url`."""
    operations = list(described(routes))
    references, schemas = _schemas([description for _, _, description in operations])
    paths: dict[str, dict[str, Any]] = {}
    for path, method, description in operations:
        paths.setdefault(path, {})[method.lower()] = _operation(path, method, description, references)
    return {
        **BASE,
        "info": {**BASE["info"], "version": VERSION},
        "servers": [{"url": base_url}],
        "paths": paths,
        "components": {**BASE["components"], "schemas": schemas},
    }


class DocumentView(View):
    """An OpenAPI 3.1 document."""

    openapi: str


DESCRIPTION = Description("getOpenapi", "This document", {200: (DocumentView,)}, tag="documents")


async def endpoint(request: Request) -> Response:
    """Return the app's OpenAPI document; the first request builds it, on a thread: most processes never need it."""
    state = request.app.state
    if state.openapi is None:
        state.openapi = await to_thread.run_sync(state.build_openapi)
    return Response(state.openapi, media_type=JSON)


class _Generator(GenerateJsonSchema):
    def normalize_name(self, name: str) -> str:
        return published_name(name)

    def default_schema(self, schema: Any) -> dict[str, Any]:
        """Leave a default out: generators of clients would demand a field that has one."""
        written = super().default_schema(schema)
        written.pop("default", None)
        return written


def _operation(path: str, method: str, it: Description, references: References) -> dict[str, Any]:
    """Return the entry of one operation; `references` says where each model's schema is."""
    parameters: list[dict[str, Any]] = [{"name": name, "in": "path", "required": True} for name in NAMED.findall(path)]
    parameters += [
        {"name": name, "in": location, "required": name in REQUIRED, "description": meaning}
        for location, described in (("query", it.query), ("header", it.headers))
        for name, meaning in described.items()
    ]
    written: dict[str, Any] = {
        "operationId": it.name,
        "tags": [it.tag],
        "summary": it.summary,
        "security": [{name: list(needs) for name, needs in each.items()} for each in it.security],
        "responses": _responses(method, it, references),
    }
    if it.description:
        written["description"] = it.description
    if parameters:
        written["parameters"] = [
            each | {"schema": PARAMETERS.get(each["name"], {"type": "string"})} for each in parameters
        ]
    if it.body:
        content = {JSON: {"schema": references[it.body]}}
        written["requestBody"] = {"required": method != "HEAD" and not it.body.may_be_absent, "content": content}
    return written


def _responses(method: str, it: Description, references: References) -> dict[str, Any]:
    """Return the good responses, and the one error schema with the codes that each status has here beside it."""

    def response(status: int, text: str, schemas: Sequence[Any], media: str = JSON) -> dict[str, Any]:
        retried = ["Retry-After"] if status in RETRIED and it.tag != "probes" else []
        names = ["X-Request-Id", *it.response_headers, *retried]
        headers = {name: {"$ref": f"#/components/headers/{name}"} for name in names}
        schema = schemas[0] if len(schemas) == 1 else {"anyOf": schemas}
        has_body = schemas and method != "HEAD" and status != HTTPStatus.NOT_MODIFIED
        return {"description": text, "headers": headers} | (
            {"content": {each: {"schema": schema} for each in media.split()}} if has_body else {}
        )

    written = {}
    for status, models in it.responses.items():
        schemas = [references[model] for model in models] if it.media == JSON else [{"type": "string"}]
        written[str(status)] = response(status, it.summary, schemas, it.media)
    by_status: dict[int, list[type[ServiceError]]] = {}
    for error in it.errors:
        by_status.setdefault(int(STATUS[error.code]), []).append(error)
    for status, errors in sorted(by_status.items()):
        codes = {"enum": [error.code for error in errors]}
        schema = {**references[Error], "properties": {"error": {"properties": {"code": codes}}}}
        written[str(status)] = response(status, _explained(errors), [schema])
    return written


def _explained(errors: Iterable[type[ServiceError]]) -> str:
    return "\n".join(f"- `{error.code}`: {error.message} {error.hint}" for error in errors)


def _schemas(descriptions: Sequence[Description]) -> tuple[References, dict[str, Any]]:
    """Return where the schema of each model is, and all schemas by name."""
    bodies = [each.body for each in descriptions if each.body]
    responses = chain.from_iterable(chain.from_iterable(each.responses.values()) for each in descriptions)
    models: dict[Any, None] = dict.fromkeys([*bodies, *responses, Error])
    # "validation" for responses too: there, a member with a default is one that may be absent.
    references, definitions = models_json_schema(
        [(model, "validation") for model in models], ref_template=REFERENCE, schema_generator=_Generator
    )
    codes = {"type": "string", "enum": CODES, "description": _explained(BY_CODE.values())}
    schemas = {**definitions["$defs"], "ErrorCode": codes}
    for description in descriptions:
        if dry_run.HEADER in description.headers:
            for model in chain.from_iterable(description.responses.values()):
                schemas[references[model, "validation"]["$ref"].rpartition("/")[2]]["properties"]["dry_run"] = DRY_RUN
    schemas["ErrorObject"]["properties"]["code"] = {"$ref": REFERENCE.format(model="ErrorCode")}
    return {model: reference for (model, _), reference in references.items()}, schemas
