"""Traces: a span says which route, status and program, and nothing that could be a secret."""

from typing import Any

import httpx
import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from storage.rules.errors import InvalidKey
from web import tracing
from web.middleware import RequestMiddleware
from web.response import error_response
from web.tracing import TracingMiddleware

PARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


async def rejecting(scope: Any, receive: Any, send: Any) -> None:
    scope |= {"route_path": "/reset/{token}", "program_id": 7}
    await error_response(InvalidKey(), scope)(scope, receive, send)


async def test_a_span_names_the_route_and_belongs_to_the_caller_s_trace():
    exported, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exported))
    app = TracingMiddleware(RequestMiddleware(rejecting), provider.get_tracer("tests"))

    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://svc.test") as client:
        answer = await client.get("/reset/rst_secret?code=secret", headers={"traceparent": PARENT})

    (span,) = exported.get_finished_spans()
    assert span.name == "GET /reset/{token}"
    assert span.context
    assert format(span.context.trace_id, "032x") == PARENT.split("-")[1]
    assert dict(span.attributes or {}) == {
        "http.request.method": "GET",
        "http.route": "/reset/{token}",
        "http.response.status_code": 401,
        "error.type": "invalid_key",
        "svc.request_id": answer.headers["x-request-id"],
        "svc.program_id": 7,
    }
    assert "secret" not in span.to_json()


def test_without_a_collector_the_app_is_served_as_it_is(monkeypatch: pytest.MonkeyPatch):
    for variable in tracing.ENDPOINTS:
        monkeypatch.delenv(variable, raising=False)

    assert tracing.traced(rejecting) is rejecting


def test_with_a_collector_requests_are_traced(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:9")
    monkeypatch.setenv("OTEL_SERVICE_NAME", "tests")

    assert isinstance(tracing.traced(rejecting), TracingMiddleware)
