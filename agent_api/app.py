"""The route table of the agent API, with the scope that each operation needs; its programs offer the resource table.

A program's ETag protects its settings from a concurrent change.
"""

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime

from starlette.applications import Starlette
from starlette.routing import BaseRoute

from agent_api.call import AgentRequest, behind_key, get_key
from presentation import resource_table
from presentation.changes import AgentProgramChange
from presentation.lists import listing
from presentation.operations import operation
from presentation.resource_table import RESOURCES, Resource
from presentation.resources import ProgramView
from storage import Storage
from storage.lists.programs import PROGRAMS, Program, read_program
from storage.management import program_settings
from storage.rules.errors import CurrencyNotSupported, OverCap, PreconditionFailed
from storage.rules.scope import Scope
from web.app import now, with_state
from web.counts import Counts
from web.limits import REJECTED, RateLimits
from web.response import HANDLERS, ModelResponse

BASE = "/api/agent/v1"
NEVER = -1  # the revision of no program
PROGRAM = f"{BASE}/programs/{{program_id}}"


@operation(response_headers=("ETag",))
async def get_program(call: AgentRequest) -> ModelResponse[ProgramView]:
    """Return a program; its ETag guards a change."""
    return _tagged(await call.read(read_program))


@operation(
    *(CurrencyNotSupported, OverCap, PreconditionFailed),
    headers={"If-Match": "The ETag of the version to change; if there is a newer one, the response is 412."},
    response_headers=("ETag",),
)
async def change_program(call: AgentRequest, sent: AgentProgramChange) -> ModelResponse[ProgramView]:
    """Change a program's settings; new terms apply to later sales only."""
    return _tagged(await call.write(program_settings.change, sent.sent(), expected_revision=await _expected(call)))


def _tagged(program: Program) -> ModelResponse[ProgramView]:
    return ModelResponse(ProgramView.of(program), {"ETag": f'"{program.revision}"'})


async def _expected(call: AgentRequest) -> int | None:
    """Return the revision that `If-Match` allows to change, None for any; a weak tag allows none (RFC 9110, 13.1.1)."""
    header = call.request.headers.get("if-match")
    if header is None or header.strip() == "*":
        return None
    revision = (await call.read(read_program)).revision
    return revision if f'"{revision}"' in [tag.strip() for tag in header.split(",")] else NEVER


def served(resources: Iterable[Resource]) -> Sequence[BaseRoute]:
    """Return the routes of the resources of a program that are for agents."""
    within = [each._replace(path=PROGRAM + each.path) for each in resources if each.scope]
    return resource_table.routes(within, behind_key)


OWN = (
    Resource("GET", f"{BASE}/me", get_key, None),  # for any agent key
    Resource("GET", f"{BASE}/programs", listing(PROGRAMS, ProgramView), None, Scope.PROGRAMS_READ),
    Resource("GET", PROGRAM, get_program, None, Scope.PROGRAMS_READ),
    Resource("PATCH", PROGRAM, change_program, None, Scope.PROGRAMS_WRITE),
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
    """Return the agent app over an open storage; `limits` counts requests with invalid keys, None: no limit."""
    app = Starlette(routes=routes, exception_handlers=HANDLERS)
    return with_state(
        app, storage=storage, base_url=base_url, clock=clock, limits=limits or RateLimits({REJECTED: None}, Counts())
    )
