"""OpenTelemetry traces: a span for each request where OpenTelemetry's standard variables name a collector."""

import os
from typing import Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from web import metrics

ENDPOINTS = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
_PROPAGATED = {b"traceparent", b"tracestate"}


class TracingMiddleware:
    """Pure ASGI middleware: a span has the method, the route, the status and the ids of the request and its program.

    It has no URL, header or body: those may hold keys, one-time codes and e-mail addresses.
    """

    def __init__(self, app: ASGIApp, tracer: Any) -> None:
        self._app = app
        self._tracer = tracer

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request within its span."""
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
    """Return the app with a span for each request, or the app itself where no collector is named.

    Raises RuntimeError if the extra is not installed.
    """
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
