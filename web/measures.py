"""What this process counts about requests and background tasks: plain numbers that a scrape of /metrics reads."""

import time
from typing import NamedTuple

from starlette.types import Scope

from storage.engine.measures import SECONDS, Histogram

NO_ROUTE = "none"  # a path that no route serves: its text comes from the client, so it is no label

routes: dict[str, "RouteMeasures"] = {}
rejections: dict[str, int] = {}  # by error code
rounds: dict[str, "Rounds"] = {}  # by background task


class RouteMeasures:
    """The responses of a route by status, and the time until they began."""

    __slots__ = ("seconds", "statuses")

    def __init__(self) -> None:
        self.statuses: dict[int, int] = {}
        self.seconds = Histogram(SECONDS)


class Rounds(NamedTuple):
    """The rounds of a background task that ended well, those that failed, and when the last good one ended."""

    done: int = 0
    failed: int = 0
    done_at: float = 0.0


def count_request(scope: Scope, status: int, started_at: float) -> None:
    """Count a request that got a response; `started_at` is of `time.perf_counter`."""
    path = route_of(scope)
    route = routes.get(path)
    if route is None:
        route = routes[path] = RouteMeasures()
    route.statuses[status] = route.statuses.get(status, 0) + 1
    route.seconds.add(time.perf_counter() - started_at)
    code = scope.get("error_code")
    if code is not None:
        rejections[code] = rejections.get(code, 0) + 1


def route_of(scope: Scope) -> str:
    """Return the path of the route that serves a request, with the names of its parameters."""
    path: str | None = scope.get("route_path")
    if path is None:
        path = scope["route"].path if "route" in scope else NO_ROUTE
    return path


def count_round(task: str, *, failed: bool) -> None:
    """Count a round of a background task."""
    before = rounds.get(task, Rounds())
    if failed:
        rounds[task] = before._replace(failed=before.failed + 1)
    else:
        rounds[task] = before._replace(done=before.done + 1, done_at=time.time())
