"""The route table of the agent API, with the scope that each handler needs: read this first."""

from collections.abc import Callable
from datetime import datetime

from starlette.applications import Starlette
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
from web.clock import now
from web.handlers import HANDLERS
from web.routes import route


def scoped(path: str, **handlers: Allowed) -> Route:
    """Return a route, and note the scope that each of its methods needs."""
    SCOPES.update({(method, path): allowed.scope for method, allowed in handlers.items()})
    return route(path, **handlers)


SCOPES: dict[tuple[str, str], Scope | None] = {}  # filled by the table below: what each method of each path needs
PROGRAM = "/api/agent/v1/programs/{program_id}"
ROUTES = [
    scoped("/api/agent/v1/me", GET=Allowed(None, me.show)),
    scoped("/api/agent/v1/programs", GET=Allowed(Scope.PROGRAMS_READ, programs.index)),
    scoped(
        PROGRAM,
        GET=Allowed(Scope.PROGRAMS_READ, programs.show),
        PATCH=Allowed(Scope.PROGRAMS_WRITE, programs.change),
    ),
    scoped(f"{PROGRAM}/readiness", GET=Allowed(Scope.PROGRAMS_READ, readiness.show)),
    scoped(f"{PROGRAM}/audit-log", GET=Allowed(Scope.PROGRAMS_READ, audit_log.index)),
    scoped(f"{PROGRAM}/performance", GET=Allowed(Scope.PERFORMANCE_READ, performance.show)),
    scoped(f"{PROGRAM}/events", GET=Allowed(Scope.EVENTS_READ, events.index)),
    scoped(f"{PROGRAM}/refused-calls", GET=Allowed(Scope.EVENTS_READ, refused_calls.index)),
    scoped(f"{PROGRAM}/explain", GET=Allowed(Scope.EVENTS_READ, explain.show)),
    scoped(f"{PROGRAM}/customers", GET=Allowed(Scope.CUSTOMERS_READ, customers.index)),
    scoped(f"{PROGRAM}/customers/{{customer_id}}", GET=Allowed(Scope.CUSTOMERS_READ, customers.show)),
    scoped(f"{PROGRAM}/commissions", GET=Allowed(Scope.COMMISSIONS_READ, commissions.index)),
    scoped(f"{PROGRAM}/commissions/{{commission_id}}", PATCH=Allowed(Scope.COMMISSIONS_WRITE, commissions.decide)),
    scoped(
        f"{PROGRAM}/partners",
        GET=Allowed(Scope.PARTNERS_READ, partners.index),
        POST=Allowed(Scope.PARTNERS_WRITE, partners.enrol),
    ),
    scoped(f"{PROGRAM}/partners/{{partner_id}}", PATCH=Allowed(Scope.PARTNERS_WRITE, partners.change)),
]


def create(storage: Storage, *, clock: Callable[[], datetime] = now) -> Starlette:
    """Return the agent app over an open storage; `clock` gives every call its time."""
    app = Starlette(routes=ROUTES, exception_handlers=HANDLERS)
    app.router.redirect_slashes = False  # another address is not found, never a redirect to the Host that was sent
    app.state.storage = storage
    app.state.clock = clock
    return app
