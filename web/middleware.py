"""The outermost layer: a request id and security headers for every response, no stack traces, and spans if asked."""

import asyncio
import itertools
import logging
import os
import secrets
import time
from contextvars import ContextVar
from functools import lru_cache
from typing import Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from storage.rules.errors import InternalError, OutcomeUnknown, ValidationError
from web import metrics
from web.response import error_in_client_format

# The request that is being served, for the lines that are logged meanwhile.
current_request: ContextVar[Scope | None] = ContextVar("current_request", default=None)
log = logging.getLogger(__name__)
ENDPOINTS = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
_PROPAGATED = {b"traceparent", b"tracestate"}
_PERMISSIONS = b"camera=(), display-capture=(), geolocation=(), microphone=(), payment=(), usb=()"
_TO_ANY_PAGE = {"Access-Control-Allow-Origin": "*"}  # some calls promise it, and no app says which
_NUL = ValidationError("The URL contains a NUL.", hint="Remove %00 from the URL.")
_RUN = secrets.token_hex(8)  # with the count: unique in all processes, without a random number per request
_count = itertools.count()


class RequestMiddleware:
    """Pure ASGI middleware: sets `scope["request_id"]` and `X-Request-Id`, and turns unexpected errors into a 500.

    It counts each response with its route (`scope["route"]`, or `scope["route_path"]` where no router ran) and its
    error (`scope["error_code"]`), and adds `scope["extra_headers"]` to it. A call that is cut off when the server stops
    answers 503 `outcome_unknown`. A URL with a NUL, which PostgreSQL cannot store, gets 400 before any app sees it.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request_id = scope["request_id"] = f"{_RUN}{next(_count):08x}"
        header = (b"x-request-id", request_id.encode())
        current_request.set(scope)
        started = closed = False
        started_at = time.perf_counter()

        async def send_marked(message: Message) -> None:
            nonlocal started, closed
            if message["type"] == "http.response.start":
                started = True
                sent = [*message.get("headers", ()), *scope.get("extra_headers", ())]
                fields = dict(sent)
                media_type = fields.get(b"content-type", b"")
                added = _security_headers(media_type, scope.get("scheme"), names_cache=b"cache-control" in fields)
                message["headers"] = [*sent, header, *added]
                metrics.count_request(scope, message["status"], started_at)
            try:
                await send(message)
            except (OSError, RuntimeError):
                closed = True  # by the client: there is no one to respond to
                raise

        try:
            has_nul = "\0" in scope["path"] or b"%00" in scope["query_string"]
            app = error_in_client_format(_NUL, scope, _TO_ANY_PAGE) if has_nul else self._app
            await app(scope, receive, send_marked)
        except asyncio.CancelledError:  # the server stops, and no longer waits for this call
            if not started:
                await error_in_client_format(OutcomeUnknown(), scope)(scope, receive, send_marked)
            raise
        except Exception:
            if closed:
                return
            log.exception("request %s failed", request_id)
            if not started:
                await error_in_client_format(InternalError(), scope)(scope, receive, send_marked)


@lru_cache(maxsize=256)
def _security_headers(media_type: bytes, scheme: str | None, *, names_cache: bool) -> list[tuple[bytes, bytes]]:
    """Return what a response needs: JSON is not stored unless it says so, a page uses no device, https stays https."""
    headers = [(b"x-content-type-options", b"nosniff")]
    if media_type.startswith(b"application/json") and not names_cache:
        headers.append((b"cache-control", b"no-store"))
    if media_type.startswith(b"text/html"):
        headers.append((b"permissions-policy", _PERMISSIONS))
    if scheme == "https":
        headers.append((b"strict-transport-security", b"max-age=31536000"))
    return headers


class TracingMiddleware:
    """Pure ASGI middleware: a span for each request, without URL, header or body, which may hold keys and addresses."""

    def __init__(self, app: ASGIApp, tracer: Any) -> None:
        self._app = app
        self._tracer = tracer

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        from opentelemetry.propagate import extract  # noqa: PLC0415 - of the extra `otel`
        from opentelemetry.trace import SpanKind  # noqa: PLC0415

        sent = {name.decode(): value.decode("latin-1") for name, value in scope["headers"] if name in _PROPAGATED}
        with self._tracer.start_as_current_span("HTTP", context=extract(sent), kind=SpanKind.SERVER) as span:

            async def send_seen(message: Message) -> None:
                if message["type"] == "http.response.start":
                    route = metrics.route_of(scope)
                    span.update_name(f"{scope['method']} {route}")
                    about = {
                        "http.request.method": scope["method"],
                        "http.route": route,
                        "http.response.status_code": message["status"],
                        "error.type": scope.get("error_code"),
                        "svc.request_id": scope.get("request_id"),
                        "svc.program_id": scope.get("program_id"),
                    }
                    span.set_attributes({name: value for name, value in about.items() if value is not None})
                await send(message)

            await self._app(scope, receive, send_seen)


def traced(app: ASGIApp) -> ASGIApp:
    """Return the app with spans if a collector is named, else as it is. RuntimeError without the extra `otel`."""
    if not any(map(os.environ.get, ENDPOINTS)) or os.environ.get("OTEL_SDK_DISABLED", "").lower() == "true":
        return app
    os.environ.setdefault("OTEL_SERVICE_NAME", "affiliate-tracking-service")
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter  # noqa: PLC0415
        from opentelemetry.sdk.trace import TracerProvider  # noqa: PLC0415
        from opentelemetry.sdk.trace.export import BatchSpanProcessor  # noqa: PLC0415
    except ImportError:
        message = "OTEL_EXPORTER_OTLP_ENDPOINT is set: install `affiliate-tracking-service[otel]`, or unset it."
        raise RuntimeError(message) from None
    provider = TracerProvider()
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    return TracingMiddleware(app, provider.get_tracer(__name__))
