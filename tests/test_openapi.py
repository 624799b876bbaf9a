"""The document at /openapi.json: complete and correct: schemathesis finds no undocumented response."""

import asyncio
import re
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from jsonschema_rs import validator_for
from pydantic import ValidationError
from starlette.routing import Route

import agent_api.app
import tracking_api.app
from presentation.operations import described
from presentation.view import published_name
from storage.rules.errors import CODES
from tests import world
from tests.conftest import LiveServer
from tests.documented import DOCUMENT
from tests.tables import table
from tests.test_journeys import stored

UNTESTED = [
    # A valid call may name a program, customer or sale that does not exist: 400 and 404 are its documented answers.
    "positive_data_acceptance",
    # Expects 401 without Authorization, the only required header; a dashboard call without a session is 403 by the
    # specification. That no call works without its credential is what ignored_auth checks.
    "missing_required_header",
]
ALL_ROUTES = [*tracking_api.app.ROUTES, *agent_api.app.ROUTES]
ROUTES = [route for route in ALL_ROUTES if isinstance(route, Route) and route.include_in_schema]


def test_every_method_of_every_route_is_described():
    assert set(DOCUMENT["paths"]) == {route.path for route in ROUTES}
    for route in ROUTES:
        described = {method.upper() for method in DOCUMENT["paths"][route.path]}
        implied = {"HEAD"} if "GET" in described else set()

        assert (route.methods or set()) - implied == described - implied, route.path


def test_no_two_schemas_or_operations_share_a_name_and_a_schema_has_no_default_and_refers_only_to_what_is_there():
    schemas = DOCUMENT["components"]["schemas"]
    operation_ids = [operation["operationId"] for path in DOCUMENT["paths"].values() for operation in path.values()]

    # Of two models of one name, pydantic puts the module before each.
    assert [name for name in schemas if not re.fullmatch(r"([A-Z][a-z]+)+", name)] == []
    assert len(operation_ids) == len(set(operation_ids))
    for name, schema in schemas.items():
        assert validator_for({"$ref": f"#/components/schemas/{name}", "components": DOCUMENT["components"]}), name
        fields = schema.get("properties", {}).items()
        assert [field for field, each in fields if "default" in each] == [], name  # which a generator would demand


def test_null_is_described_where_it_is_accepted():
    for body in {each.body for _, _, each in described(ROUTES) if each.body}:
        schema = {"$ref": f"#/components/schemas/{published_name(body.__name__)}", "components": DOCUMENT["components"]}
        validator = validator_for(schema)
        for name in body.model_fields:
            with suppress(ValidationError):
                body.model_validate({name: None})
                assert validator.is_valid({name: None}), f"{body.__name__}.{name}"


def test_the_performance_query_a_webhook_s_signature_the_codes_and_the_version_are_described_exactly():
    get = DOCUMENT["paths"]["/api/tracking/performance/{program_id}"]["get"]
    schemas = {each["name"]: each["schema"] for each in get["parameters"]}
    webhook = DOCUMENT["paths"]["/api/v1/payments/stripe/{program_id}"]["post"]

    assert schemas["program_id"] == {"type": "integer"}
    assert schemas["period"] == {"type": "string", "enum": ["7d", "30d", "90d", "all"]}
    assert schemas["dateFrom"] == schemas["dateTo"] == {"type": "string", "format": "date-time"}
    assert [each["name"] for each in webhook["parameters"] if each["required"]] == ["program_id", "Stripe-Signature"]
    assert DOCUMENT["components"]["schemas"]["ErrorCode"]["enum"] == CODES
    assert DOCUMENT["info"]["version"] == table("../pyproject.toml")["project"]["version"]


def test_every_operation_lists_its_errors_with_the_one_schema_and_the_headers_of_a_flagged_key():
    for path, operations in DOCUMENT["paths"].items():
        for method, operation in operations.items():
            where, security, responses = f"{method} {path}", operation["security"], operation["responses"]
            failures = {status for status in responses if status >= "400"}
            if path.startswith("/api/") and method not in {"head", "options"}:
                assert failures >= {"500", "503"}, where
            if security and {} not in security:
                assert failures & {"401", "403"}, where
            if {"programKey": []} in security:
                assert all({"Deprecation", "Sunset", "Link"} <= set(each["headers"]) for each in responses.values())
            for status in failures if method != "head" else ():
                schema = responses[status]["content"]["application/json"]["schema"]
                assert schema["$ref"] == "#/components/schemas/Error", where
                assert schema["properties"]["error"]["properties"]["code"]["enum"], where


def test_every_response_is_documented(sqlite_url: str, live_server: Callable[..., LiveServer], tmp_path: Path):
    key = asyncio.run(stored(sqlite_url, world.acme)).key
    server = live_server(sqlite_url)
    command = [
        *(sys.executable, "-m", "schemathesis.cli", "run", f"{server.base_url}/openapi.json"),
        *("--url", server.base_url, "--header", f"Authorization: Bearer {key}"),
        *("--exclude-checks", ",".join(UNTESTED), "--phases", "examples,coverage,fuzzing"),
        *("--seed", "20260520", "--max-examples", "25", "--no-shrink", "--continue-on-failure"),
    ]

    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False)

    assert done.returncode == 0, done.stdout[-8000:] + done.stderr[-2000:]
