"""The route table of the agent API, with the scope that each handler needs: read this first."""

from collections.abc import Callable
from datetime import datetime

from starlette.applications import Starlette

from agent_api import commissions as decisions
from agent_api import me, partners, programs
from agent_api.call import scoped
from presentation.handlers import customers, flags, lists, reports
from presentation.handlers.partners import change_partner
from storage import Storage
from storage.rules.scope import Scope
from web.app import now, with_state
from web.error_page import HANDLERS

PROGRAM = "/api/agent/v1/programs/{program_id}"
ROUTES = [
    scoped("/api/agent/v1/me", GET=(None, me.get_key)),
    scoped("/api/agent/v1/programs", GET=(Scope.PROGRAMS_READ, lists.list_programs)),
    scoped(
        PROGRAM,
        GET=(Scope.PROGRAMS_READ, programs.get_program),
        PATCH=(Scope.PROGRAMS_WRITE, programs.change_program),
    ),
    scoped(f"{PROGRAM}/readiness", GET=(Scope.PROGRAMS_READ, reports.get_readiness)),
    scoped(f"{PROGRAM}/audit-log", GET=(Scope.PROGRAMS_READ, lists.list_audit_log)),
    scoped(f"{PROGRAM}/performance", GET=(Scope.PERFORMANCE_READ, reports.get_performance)),
    scoped(f"{PROGRAM}/breakdown", GET=(Scope.PERFORMANCE_READ, reports.get_breakdown)),
    scoped(f"{PROGRAM}/events", GET=(Scope.EVENTS_READ, lists.list_events)),
    scoped(f"{PROGRAM}/tracking-log", GET=(Scope.EVENTS_READ, lists.list_tracking_log)),
    scoped(f"{PROGRAM}/refused-calls", GET=(Scope.EVENTS_READ, lists.list_rejected_calls)),
    scoped(f"{PROGRAM}/explain", GET=(Scope.EVENTS_READ, reports.explain_sale)),
    scoped(f"{PROGRAM}/customers", GET=(Scope.CUSTOMERS_READ, lists.list_customers)),
    scoped(f"{PROGRAM}/customers/{{customer_id}}", GET=(Scope.CUSTOMERS_READ, customers.get_customer)),
    scoped(f"{PROGRAM}/commissions", GET=(Scope.COMMISSIONS_READ, lists.list_commissions)),
    scoped(f"{PROGRAM}/commissions/{{commission_id}}", PATCH=(decisions.DECISION, decisions.decide_commission)),
    scoped(f"{PROGRAM}/flags", GET=(Scope.COMMISSIONS_READ, lists.list_flags)),
    scoped(f"{PROGRAM}/flags/{{flag_id}}", PATCH=(Scope.COMMISSIONS_WRITE, flags.decide_flag)),
    scoped(
        f"{PROGRAM}/partners",
        GET=(Scope.PARTNERS_READ, lists.list_partners),
        POST=(Scope.PARTNERS_WRITE, partners.enrol_partner),
    ),
    scoped(f"{PROGRAM}/partners/{{partner_id}}", PATCH=(Scope.PARTNERS_WRITE, change_partner)),
]


def create(storage: Storage, *, base_url: str, clock: Callable[[], datetime] = now) -> Starlette:
    """Return the agent app over an open storage, served at `base_url`; `clock` gives every request its time."""
    app = Starlette(routes=ROUTES, exception_handlers=HANDLERS)
    return with_state(app, storage=storage, base_url=base_url, clock=clock)
