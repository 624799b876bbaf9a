"""What this process counts about requests and background tasks."""

import time
from functools import cache

from prometheus_client import Counter, Gauge, Histogram
from starlette.types import Scope

from storage.engine.measures import SECONDS

NO_ROUTE = "none"  # a path that no route serves: its text comes from the client, so it is no label

_responses = Counter("svc_requests", "Responses, by route and status.", ("route", "status"))
_seconds = Histogram("svc_request_seconds", "Time until a response begins.", ("route",), buckets=SECONDS)
_rejections = Counter("svc_rejected_calls", "Requests that ended in an error.", ("code",))
_rounds = Counter("svc_background_rounds", "Rounds of background tasks.", ("task", "result"))
_done_at = Gauge("svc_background_done_timestamp_seconds", "End of the last round.", ("task",))
_responses_of = cache(_responses.labels)  # looking a label up takes as long as counting
_seconds_of = cache(_seconds.labels)


def count_request(scope: Scope, status: int, started_at: float) -> None:
    """Count a request that got a response; `started_at` is of `time.perf_counter`."""
    route = route_of(scope)
    _responses_of(route, status).inc()
    _seconds_of(route).observe(time.perf_counter() - started_at)
    code = scope.get("error_code")
    if code is not None:
        _rejections.labels(code).inc()


def route_of(scope: Scope) -> str:
    """Return the path of the route that serves a request, with the names of its parameters."""
    path: str | None = scope.get("route_path")
    if path is None:
        path = scope["route"].path if "route" in scope else NO_ROUTE
    return path


def count_round(task: str, *, failed: bool) -> None:
    """Count a round of a background task."""
    _rounds.labels(task, "failed").inc(failed)  # each result is there from the first round on, with 0
    _rounds.labels(task, "done").inc(not failed)
    done_at = _done_at.labels(task)
    if not failed:
        done_at.set_to_current_time()
