"""`GET /metrics` for Prometheus: behind a token on the public port, or on a port of its own."""

import asyncio
import logging
import secrets
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from threading import Thread
from wsgiref.simple_server import WSGIServer

from prometheus_client import REGISTRY, CollectorRegistry, disable_created_metrics, start_http_server
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest
from prometheus_client.metrics_core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector
from starlette.types import Receive, Scope, Send

from storage.engine.measures import StorageMeasures
from storage.rules.errors import InvalidCredentials, MethodNotAllowed, NotFound
from web import credentials
from web.error_page import error_in_client_format

PATH = "/metrics"
MOST_WORKERS = 64  # on one machine: each takes a port of its own
log = logging.getLogger(__name__)


class StorageCollector(Collector):
    """Asks storage for its numbers when Prometheus asks for them."""

    def __init__(self, measures: Callable[[], StorageMeasures]) -> None:
        self._measures = measures

    def collect(self) -> Iterable[Metric]:
        """Yield the metrics of storage."""
        now = self._measures()
        for histogram in now.batches:
            yield from histogram.collect()
        yield GaugeMetricFamily("svc_writes_waiting", "Writes that wait for a batch.", value=now.writes_waiting)
        yield GaugeMetricFamily("svc_lanes", "Lanes that write.", value=now.lanes)
        yield GaugeMetricFamily("svc_reads_waiting", "Reads that wait for a connection.", value=now.reads_waiting)
        available = GaugeMetricFamily("svc_storage_available", "1 while storage responds.", labels=("purpose",))
        for purpose, is_available in now.is_available.items():
            available.add_metric((purpose,), is_available)
        yield available
        if now.replica_lag_seconds is not None:
            yield GaugeMetricFamily(
                "svc_replica_lag_seconds", "Lag of the read replica.", value=now.replica_lag_seconds
            )


class MetricsEndpoint:
    """The ASGI app of `GET /metrics` on the public port."""

    def __init__(self, registry: CollectorRegistry, token: str) -> None:
        self._registry = registry
        self._token = token.encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the metrics to a request with the token. They are written on a thread."""
        if scope["path"] != PATH:
            await error_in_client_format(NotFound(), scope)(scope, receive, send)
            return
        scope["route_path"] = PATH
        sent = credentials.bearer(dict(scope["headers"]).get(b"authorization", b"").decode("latin-1")) or ""
        if not secrets.compare_digest(sent.encode(), self._token):
            wrong = InvalidCredentials("The token of /metrics is missing or wrong.", hint="Send SVC_METRICS_TOKEN.")
            await error_in_client_format(wrong, scope, {"WWW-Authenticate": "Bearer"})(scope, receive, send)
        elif scope["method"] not in {"GET", "HEAD"}:
            await error_in_client_format(MethodNotAllowed(), scope, {"Allow": "GET"})(scope, receive, send)
        else:
            content = await asyncio.to_thread(generate_latest, self._registry)
            headers = [(b"content-type", CONTENT_TYPE_LATEST.encode()), (b"cache-control", b"no-store")]
            headers.append((b"content-length", str(len(content)).encode()))
            await send({"type": "http.response.start", "status": 200, "headers": headers})
            await send({"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else content})


def registry(measures: Callable[[], StorageMeasures]) -> CollectorRegistry:
    """Return the metrics of this process: those of its storage, of requests and tasks, and of Python."""
    disable_created_metrics()  # type: ignore[no-untyped-call]
    metrics = CollectorRegistry()
    metrics.register(StorageCollector(measures))
    metrics.register(REGISTRY)
    return metrics


@contextmanager
def served(metrics: CollectorRegistry, *, host: str, port: int | None) -> Iterator[None]:
    """Serve the metrics on a port of their own, from a thread. Of several workers, each takes the first free port."""
    if port is None:
        yield
        return
    server, thread = _listen(metrics, host, port)
    log.info("metrics are at http://%s:%d%s", host, server.server_port, PATH)
    try:
        yield
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _listen(metrics: CollectorRegistry, host: str, first: int) -> tuple[WSGIServer, Thread]:
    for port in range(first, first + MOST_WORKERS):
        try:
            return start_http_server(port, host, metrics)
        except OSError as taken:
            problem = taken
    raise OSError(f"SVC_METRICS_PORT: no port from {first} on {host} is free") from problem
