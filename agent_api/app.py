"""The route table of the agent API, with the scope that each operation needs; its programs offer the resource table."""

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime

from starlette.applications import Starlette
from starlette.routing import BaseRoute

from agent_api import programs
from agent_api.call import behind_key, get_key
from presentation import resource_table
from presentation.lists import listing
from presentation.resource_table import RESOURCES, Resource
from presentation.resources import ProgramView
from storage import Storage
from storage.lists.programs import PROGRAMS
from storage.rules.scope import Scope
from web.app import now, with_state
from web.counts import Counts
from web.error_page import HANDLERS
from web.limits import REJECTED, RateLimits

BASE = "/api/agent/v1"
PROGRAM = f"{BASE}/programs/{{program_id}}"


def served(resources: Iterable[Resource]) -> Sequence[BaseRoute]:
    """Return the routes of the resources of a program that are for agents."""
    within = [each._replace(path=PROGRAM + each.path) for each in resources if each.scope]
    return resource_table.routes(within, behind_key)


OWN = (
    Resource("GET", f"{BASE}/me", get_key, None),  # for any agent key
    Resource("GET", f"{BASE}/programs", listing(PROGRAMS, ProgramView), None, Scope.PROGRAMS_READ),
    Resource("GET", PROGRAM, programs.get_program, None, Scope.PROGRAMS_READ),
    Resource("PATCH", PROGRAM, programs.change_program, None, Scope.PROGRAMS_WRITE),
)
ROUTES = [*resource_table.routes(OWN, behind_key), *served(RESOURCES)]


def create(
    storage: Storage,
    *,
    base_url: str,
    limits: RateLimits | None = None,
    clock: Callable[[], datetime] = now,
    routes: Sequence[BaseRoute] = ROUTES,
) -> Starlette:
    """Return the agent app over an open storage, served at `base_url`; `clock` gives every request its time.

    `limits` counts requests with keys that are not valid; None: there is no limit.
    """
    app = Starlette(routes=routes, exception_handlers=HANDLERS)
    return with_state(
        app, storage=storage, base_url=base_url, clock=clock, limits=limits or RateLimits({REJECTED: None}, Counts())
    )
