"""The route table of the agent API, with the scope that each handler needs: read this first."""

from collections.abc import Callable
from datetime import UTC, datetime

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.routing import Route

from agent_api import (
    audit_log,
    commissions,
    customers,
    events,
    explain,
    me,
    partners,
    performance,
    programs,
    readiness,
    refused_calls,
)
from agent_api.call import Allowed
from storage import Storage
from storage.rules.scope import Scope
from web.answer import Answer
from web.handlers import HANDLERS


def route(path: str, **handlers: Allowed) -> Route:
    """Return one route with a handler for each method, so that a 405 lists them all."""

    async def endpoint(request: Request) -> Answer:
        return await handlers["GET" if request.method == "HEAD" else request.method](request)

    made = Route(path, endpoint, methods=list(handlers))
    SCOPES.update({(method, path): allowed.scope for method, allowed in handlers.items()})
    return made


SCOPES: dict[tuple[str, str], Scope | None] = {}  # filled by the table below: what each method of each path needs
PROGRAM = "/api/agent/v1/programs/{program_id}"
ROUTES = [
    route("/api/agent/v1/me", GET=Allowed(None, me.show)),
    route("/api/agent/v1/programs", GET=Allowed(Scope.PROGRAMS_READ, programs.index)),
    route(
        PROGRAM,
        GET=Allowed(Scope.PROGRAMS_READ, programs.show),
        PATCH=Allowed(Scope.PROGRAMS_WRITE, programs.change),
    ),
    route(f"{PROGRAM}/readiness", GET=Allowed(Scope.PROGRAMS_READ, readiness.show)),
    route(f"{PROGRAM}/audit-log", GET=Allowed(Scope.PROGRAMS_READ, audit_log.index)),
    route(f"{PROGRAM}/performance", GET=Allowed(Scope.PERFORMANCE_READ, performance.show)),
    route(f"{PROGRAM}/events", GET=Allowed(Scope.EVENTS_READ, events.index)),
    route(f"{PROGRAM}/refused-calls", GET=Allowed(Scope.EVENTS_READ, refused_calls.index)),
    route(f"{PROGRAM}/explain", GET=Allowed(Scope.EVENTS_READ, explain.show)),
    route(f"{PROGRAM}/customers", GET=Allowed(Scope.CUSTOMERS_READ, customers.index)),
    route(f"{PROGRAM}/customers/{{customer_id}}", GET=Allowed(Scope.CUSTOMERS_READ, customers.show)),
    route(f"{PROGRAM}/commissions", GET=Allowed(Scope.COMMISSIONS_READ, commissions.index)),
    route(f"{PROGRAM}/commissions/{{commission_id}}", PATCH=Allowed(Scope.COMMISSIONS_WRITE, commissions.decide)),
    route(
        f"{PROGRAM}/partners",
        GET=Allowed(Scope.PARTNERS_READ, partners.index),
        POST=Allowed(Scope.PARTNERS_WRITE, partners.enrol),
    ),
    route(f"{PROGRAM}/partners/{{partner_id}}", PATCH=Allowed(Scope.PARTNERS_WRITE, partners.change)),
]


def now() -> datetime:
    """Return the present moment, aware, in UTC."""
    return datetime.now(UTC)


def create(storage: Storage, *, clock: Callable[[], datetime] = now) -> Starlette:
    """Return the agent app over an open storage; `clock` gives every call its time."""
    app = Starlette(routes=ROUTES, exception_handlers=HANDLERS)
    app.router.redirect_slashes = False  # another address is not found, never a redirect to the Host that was sent
    app.state.storage = storage
    app.state.clock = clock
    return app
