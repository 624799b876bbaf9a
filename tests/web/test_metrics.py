"""What operators see: GET /metrics, never open on the public port, and traces that hold nothing secret."""

import logging
import re
import socket
from typing import Any

import httpx
import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from storage.rules.errors import InvalidKey
from tests.serving import Serve
from tests.tables import table
from web import metrics, middleware
from web.middleware import RequestMiddleware, TracingMiddleware
from web.response import error_response

TOKEN = "a long and random token of Prometheus"
BEARER = {"Authorization": f"Bearer {TOKEN}"}
PARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
CLICK = "/api/v1/track/click"


def values(text: str) -> dict[str, float]:
    """Return the samples of a scrape by their name with labels."""
    lines = (line.rpartition(" ") for line in text.splitlines() if not line.startswith("#"))
    return {name: float(value) for name, _, value in lines}


def test_the_public_port_wants_the_token(sqlite_url: str, serve: Serve):
    url = f"{serve(sqlite_url, SVC_METRICS_TOKEN=TOKEN).base_url}/metrics"

    sent = [None, {"Authorization": "Bearer wrong"}, {"Authorization": TOKEN}, BEARER]
    assert [httpx.get(url, headers=headers).status_code for headers in sent] == [401, 401, 401, 200]
    assert httpx.get(url).json()["error"]["code"] == "invalid_credentials"
    assert httpx.post(url, headers=BEARER).status_code == 405
    assert httpx.get(f"{url}-and-more", headers=BEARER).status_code == 404


def test_head_has_no_body(sqlite_url: str, serve: Serve):
    host, _, port = serve(sqlite_url, SVC_METRICS_TOKEN=TOKEN).base_url.removeprefix("http://").partition(":")

    for path in ("/metrics", "/openapi.json", "/healthz", "/docs"):
        with socket.create_connection((host, int(port)), timeout=30) as connection, connection.makefile("rb") as sent:
            head = f"HEAD {path} HTTP/1.1\r\nHost: svc\r\nAuthorization: Bearer {TOKEN}\r\nConnection: close\r\n\r\n"
            connection.sendall(head.encode())
            received = sent.read()

        assert received.startswith(b"HTTP/1.1 200 "), path
        assert b"content-length: " in received, path
        assert received.endswith(b"\r\n\r\n"), path


def test_requests_batches_and_rejected_calls_are_counted(sqlite_url: str, serve: Serve):
    service = serve(sqlite_url, SVC_METRICS_TOKEN=TOKEN)

    def scrape() -> dict[str, float]:
        return values(httpx.get(f"{service.base_url}/metrics", headers=BEARER).text)

    httpx.get(f"{service.base_url}/readyz")
    metrics.count_round("a task", failed=False)
    before = scrape()
    httpx.post(f"{service.base_url}{CLICK}", json={"program_id": 77})
    httpx.get(f"{service.base_url}/no/such/page")
    httpx.get(f"{service.base_url}/readyz")
    after = scrape()

    counted, rising = table("web/metrics.json").values()
    assert {name: after[name] - before.get(name, 0) for name in counted} == counted
    assert all(after[name] > before.get(name, 0) for name in rising)
    assert after["svc_lanes"] == after['svc_storage_available{purpose="writing"}'] == 1
    assert after["svc_reads_waiting"] == after["svc_writes_waiting"] == 0
    assert after['svc_background_rounds_total{result="done",task="a task"}'] == 1
    assert after['svc_background_done_timestamp_seconds{task="a task"}'] > 0
    assert after["process_resident_memory_bytes"] > 0


def test_a_port_of_its_own_needs_no_token_and_the_next_worker_takes_the_next_free_one(
    sqlite_url: str, serve: Serve, caplog: pytest.LogCaptureFixture
):
    caplog.set_level(logging.INFO)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        service = serve(sqlite_url, SVC_METRICS_PORT=str(taken.getsockname()[1]))

    [url] = re.findall(r"metrics are at (\S+)", caplog.text)
    assert "svc_lanes 1.0" in httpx.get(url).text
    assert httpx.get(f"{service.base_url}/metrics", headers=BEARER).status_code == 404


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


def test_with_a_collector_requests_are_traced_and_without_one_the_app_is_served_as_it_is(
    monkeypatch: pytest.MonkeyPatch,
):
    for variable in middleware.ENDPOINTS:
        monkeypatch.delenv(variable, raising=False)

    assert middleware.traced(rejecting) is rejecting
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:9")
    monkeypatch.setenv("OTEL_SERVICE_NAME", "tests")
    assert isinstance(middleware.traced(rejecting), TracingMiddleware)
