"""`GET /metrics` for Prometheus: behind a token on the public port, or on a port of its own."""

import asyncio
import logging
import secrets
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import accumulate
from threading import Thread
from wsgiref.simple_server import WSGIServer

from prometheus_client import CollectorRegistry, GCCollector, PlatformCollector, ProcessCollector, start_http_server
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest
from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.registry import Collector
from starlette.types import Receive, Scope, Send

from storage.engine.measures import Histogram, StorageMeasures
from storage.rules.errors import InvalidCredentials, MethodNotAllowed, NotFound
from web import credentials, measures
from web.error_page import error_in_client_format

PATH = "/metrics"
MOST_WORKERS = 64  # on one machine: each takes a port of its own
log = logging.getLogger(__name__)


class ServiceCollector(Collector):
    """Reads what the process has counted, when Prometheus asks for it: requests pay for integers alone."""

    def __init__(self, storage: Callable[[], StorageMeasures]) -> None:
        self._storage = storage

    def collect(self) -> Iterable[Metric]:
        """Yield every metric of the service."""
        yield from _requests()
        yield from _storage(self._storage())
        yield from _rounds()


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


def registry(storage: Callable[[], StorageMeasures]) -> CollectorRegistry:
    """Return the metrics of this process: the service's own, and those of the Python process."""
    metrics = CollectorRegistry()
    metrics.register(ServiceCollector(storage))
    ProcessCollector(registry=metrics)
    PlatformCollector(registry=metrics)
    GCCollector(registry=metrics)
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


def _requests() -> Iterator[Metric]:
    counts = CounterMetricFamily("svc_requests", "Responses, by route and status.", labels=("route", "status"))
    routes = list(measures.routes.items())
    for route, measured in routes:
        for status, count in list(measured.statuses.items()):
            counts.add_metric((route, str(status)), count)
    yield counts
    seconds = {route: measured.seconds for route, measured in routes}
    yield _histogram("svc_request_seconds", "Time until a response begins.", "route", seconds)
    rejections = CounterMetricFamily("svc_rejected_calls", "Requests that ended in an error.", labels=("code",))
    for code, count in list(measures.rejections.items()):
        rejections.add_metric((code,), count)
    yield rejections


def _storage(now: StorageMeasures) -> Iterator[Metric]:
    lanes = {str(lane): measured for lane, measured in enumerate(now.lanes)}
    for name, text, histograms in (
        ("svc_batch_writes", "Writes in a batch.", {lane: each.batch_writes for lane, each in lanes.items()}),
        (
            "svc_write_wait_seconds",
            "Longest wait in a batch.",
            {lane: each.wait_seconds for lane, each in lanes.items()},
        ),
        ("svc_commit_seconds", "Time of a transaction.", {lane: each.commit_seconds for lane, each in lanes.items()}),
    ):
        yield _histogram(name, text, "lane", histograms)
    yield GaugeMetricFamily("svc_writes_waiting", "Writes that wait for a batch.", value=now.writes_waiting)
    yield GaugeMetricFamily("svc_lanes", "Lanes that write.", value=len(lanes))
    yield GaugeMetricFamily("svc_reads_waiting", "Reads that wait for a connection.", value=now.reads_waiting)
    available = GaugeMetricFamily("svc_storage_available", "1 while storage responds.", labels=("purpose",))
    for purpose, is_available in now.is_available.items():
        available.add_metric((purpose,), is_available)
    yield available
    if now.replica_lag_seconds is not None:
        yield GaugeMetricFamily("svc_replica_lag_seconds", "Lag of the read replica.", value=now.replica_lag_seconds)


def _rounds() -> Iterator[Metric]:
    rounds = CounterMetricFamily("svc_background_rounds", "Rounds of background tasks.", labels=("task", "result"))
    done_at = GaugeMetricFamily("svc_background_done_timestamp_seconds", "End of the last round.", labels=("task",))
    for task, counted in list(measures.rounds.items()):
        rounds.add_metric((task, "done"), counted.done)
        rounds.add_metric((task, "failed"), counted.failed)
        done_at.add_metric((task,), counted.done_at)
    yield rounds
    yield done_at


def _histogram(name: str, text: str, label: str, histograms: dict[str, Histogram]) -> Metric:
    family = HistogramMetricFamily(name, text, labels=(label,))
    for value, histogram in histograms.items():
        bounds = [*map(str, map(float, histogram.bounds)), "+Inf"]
        buckets = list(zip(bounds, accumulate(histogram.counts), strict=True))
        family.add_metric((value,), buckets, histogram.total)
    return family
