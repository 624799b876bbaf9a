"""What this process counts, and `GET /metrics` for Prometheus: behind a token, or on a port of its own."""

import asyncio
import logging
import secrets
import shutil
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import prometheus_client as prometheus
from prometheus_client.metrics_core import GaugeMetricFamily, InfoMetricFamily, Metric
from prometheus_client.registry import Collector
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Scope

from storage import Storage
from storage.engine.group_commit import SECONDS
from storage.rules.errors import CODES, InvalidCredentials
from web import client
from web.app import with_state
from web.build import COMMIT, VERSION
from web.response import HANDLERS, error_in_client_format

PATH = "/metrics"
MOST_WORKERS = 64  # on one machine: each takes a port of its own
log = logging.getLogger(__name__)
NO_ROUTE = "none"  # a path that no route serves: its text comes from the client, so it is no label

_responses = prometheus.Counter("svc_requests", "Responses, by route and status.", ("route", "status"))
_seconds = prometheus.Histogram("svc_request_seconds", "Time until a response begins.", ("route",), buckets=SECONDS)
_rejections = prometheus.Counter("svc_rejected_calls", "Requests that ended in an error.", ("code",))
_rounds = prometheus.Counter("svc_background_rounds", "Rounds of background tasks.", ("task", "result"))
_done_at = prometheus.Gauge("svc_background_done_timestamp_seconds", "End of the last round.", ("task",))
_responses_of = cache(_responses.labels)  # looking a label up takes as long as counting
_seconds_of = cache(_seconds.labels)
for each in CODES:
    _rejections.labels(each)  # with 0 from the start on, so that the rate of a first burst is seen


def count_request(scope: Scope, status: int, started_at: float) -> None:
    """Count a request that got a response; `started_at` is of `time.perf_counter`."""
    route = route_of(scope)
    _responses_of(route, status).inc()
    _seconds_of(route).observe(time.perf_counter() - started_at)
    if (code := scope.get("error_code")) is not None:
        _rejections.labels(code).inc()


def route_of(scope: Scope) -> str:
    """Return the path of the route that serves a request, with the names of its parameters."""
    path: str = scope.get("route_path") or (scope["route"].path if "route" in scope else NO_ROUTE)
    return path


def count_round(task: str, *, failed: bool) -> None:
    """Count a round of a background task."""
    _rounds.labels(task, "failed").inc(failed)  # each result is there from the first round on, with 0
    _rounds.labels(task, "done").inc(not failed)
    done_at = _done_at.labels(task)
    if not failed:
        done_at.set_to_current_time()


@dataclass(frozen=True)
class StorageCollector(Collector):
    """Asks storage for its numbers when Prometheus asks for them; `folder` is that of an embedded database."""

    store: Storage
    folder: Path | None

    def collect(self) -> Iterable[Metric]:
        yield InfoMetricFamily("svc_build", "The version that runs.", {"version": VERSION, "commit": COMMIT})
        reads, writer, replica = self.store.reads, self.store.writer, self.store.replica
        yield GaugeMetricFamily("svc_writes_waiting", "Writes that wait for a batch.", value=writer.waiting)
        yield GaugeMetricFamily("svc_lanes", "Lanes that write.", value=len(writer.lanes))
        yield GaugeMetricFamily("svc_reads_waiting", "Reads that wait for a connection.", value=reads.waiting)
        purpose = ("purpose",)
        available = GaugeMetricFamily("svc_storage_available", "1 while the database responds.", labels=purpose)
        done_at = GaugeMetricFamily("svc_storage_success_timestamp_seconds", "When it last did.", labels=purpose)
        for name, each in self.store.databases.items():
            available.add_metric((name,), not each.is_known_bad)
            done_at.add_metric((name,), each.succeeded_at)
        yield from (available, done_at)
        if self.folder is not None:
            disk = shutil.disk_usage(self.folder)
            yield GaugeMetricFamily("svc_disk_free_ratio", "Free part of SQLite's disk.", value=disk.free / disk.total)
        if replica is not None and (lag := replica.lag_seconds) is not None:
            yield GaugeMetricFamily("svc_replica_lag_seconds", "Lag of the read replica.", value=lag)


def endpoint(registry: prometheus.CollectorRegistry, token: str) -> ASGIApp:
    """Return the app of `GET /metrics` on the public port, for requests with the token."""

    async def scrape(request: Request) -> ASGIApp:
        sent = client.bearer(request.headers.get("authorization")) or ""
        if not secrets.compare_digest(sent.encode(), token.encode()):
            wrong = InvalidCredentials("The token of /metrics is missing or wrong.", hint="Send SVC_METRICS_TOKEN.")
            return error_in_client_format(wrong, request.scope, {"WWW-Authenticate": "Bearer"})
        content = await asyncio.to_thread(prometheus.generate_latest, registry)
        return Response(content, headers={"Cache-Control": "no-store"}, media_type=prometheus.CONTENT_TYPE_LATEST)

    return with_state(Starlette(routes=[Route(PATH, scrape)], exception_handlers=HANDLERS))


def registry(store: Storage, folder: Path | None = None) -> prometheus.CollectorRegistry:
    """Return the metrics of this process: those of its storage, of requests and tasks, and of Python."""
    prometheus.disable_created_metrics()  # type: ignore[no-untyped-call]
    metrics = prometheus.CollectorRegistry()
    metrics.register(StorageCollector(store, folder))
    metrics.register(prometheus.REGISTRY)
    return metrics


@contextmanager
def served(metrics: prometheus.CollectorRegistry, *, host: str, port: int | None) -> Iterator[None]:
    """Serve the metrics on a port of their own, from a thread. Of several workers, each takes the first free port."""
    if port is None:
        yield
        return
    for each in range(port, port + MOST_WORKERS):
        with suppress(OSError):
            server, thread = prometheus.start_http_server(each, host, metrics)
            break
    else:
        raise OSError(f"SVC_METRICS_PORT: no port from {port} on {host} is free")
    log.info("metrics are at http://%s:%d%s", host, server.server_port, PATH)
    try:
        yield
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
