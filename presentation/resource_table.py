"""The resource table: what a program offers, as path, list or action, and audience; read this first.

Members with one of the roles are served it by the dashboard API, agents whose key has the scope by the agent API.
"""

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any, NamedTuple

from presentation import backtests, changes, payout_documents, payouts, referrals, replays, report, resources
from presentation.lists import listing
from presentation.operations import DescribedRoute, Operation, RouteMethod, route
from storage.access.workspaces import ANYONE, DECIDERS, MANAGERS, OWNERS, PAYERS, Role
from storage.lists.audit_log import AUDIT_LOG
from storage.lists.commissions import COMMISSIONS
from storage.lists.coupons import COUPONS
from storage.lists.customers import CUSTOMERS
from storage.lists.events import EVENTS
from storage.lists.flags import FLAGS
from storage.lists.partners import PARTNERS
from storage.lists.payables import PAYABLES
from storage.lists.payouts import PAYOUT_LINES, PAYOUTS
from storage.lists.rejected_calls import REJECTED_CALLS, TRACKING_LOG
from storage.rules.commission import CommissionStatus
from storage.rules.errors import OverCap, SecondKeyRequired, ServiceError
from storage.rules.scope import Scope
from web import body


class ScopeByBody(NamedTuple):
    """The scope that a body needs, and the scopes that there are."""

    choose: Callable[[bytes], Scope]
    scopes: tuple[Scope, ...]


class Resource(NamedTuple):
    """An operation under a program's path, for its members with these roles, and for agents; None: not for these.

    What `only_reads` takes a body, and changes nothing.
    """

    method: str
    path: str
    operation: Operation[Any]
    roles: Collection[Role] | None
    scope: Scope | ScopeByBody | None = None
    only_reads: bool = False

    @property
    def is_write(self) -> bool:
        return self.method != "GET" and not self.only_reads


def scope_of_decision(content: bytes) -> Scope:
    """Return the scope that a decision on a commission needs."""
    try:
        status = body.parse(changes.CommissionChange, content).status
    except ServiceError:  # the action says what is wrong with it
        return Scope.COMMISSIONS_WRITE
    return Scope.COMMISSIONS_PAY if status == CommissionStatus.PAID else Scope.COMMISSIONS_WRITE


DECISION = ScopeByBody(scope_of_decision, (Scope.COMMISSIONS_WRITE, Scope.COMMISSIONS_PAY))
PROGRAM_BY_AGENT = changes.change_program.taking(changes.AgentProgramChange, OverCap)
# An agent overrides no hold.
BY_AGENT = changes.decide_commission.taking(changes.CommissionChange, SecondKeyRequired, OverCap)
FLAG_BY_AGENT = changes.decide_flag.taking(changes.FlagDecision, SecondKeyRequired)
MEMBER, OWNER, MANAGER, DECIDER, PAYER = ANYONE, OWNERS, MANAGERS, DECIDERS, PAYERS
PAYOUT, METHOD = "/payouts/{payout_id}", "/partners/{partner_id}/payout-method"

RESOURCES = (
    Resource("GET", "", resources.get_program, MEMBER, Scope.PROGRAMS_READ),
    Resource("PATCH", "", changes.change_program, OWNER),
    Resource("PATCH", "", PROGRAM_BY_AGENT, None, Scope.PROGRAMS_WRITE),
    Resource("GET", "/readiness", resources.get_readiness, None, Scope.PROGRAMS_READ),
    Resource("GET", "/audit-log", listing(AUDIT_LOG, resources.AuditEntryView), MEMBER, Scope.PROGRAMS_READ),
    Resource("GET", "/changes", resources.get_changes, MEMBER, Scope.PROGRAMS_READ),
    Resource("GET", "/performance", report.get_performance, None, Scope.PERFORMANCE_READ),
    Resource("GET", "/breakdown", report.get_breakdown, MEMBER, Scope.PERFORMANCE_READ),
    Resource("POST", "/backtest", backtests.backtest_terms, MEMBER, Scope.PROGRAMS_READ, only_reads=True),
    Resource("GET", "/events", listing(EVENTS, resources.EventView), MEMBER, Scope.EVENTS_READ),
    Resource("GET", "/tracking-log", listing(TRACKING_LOG), MEMBER, Scope.EVENTS_READ),
    Resource("GET", "/refused-calls", listing(REJECTED_CALLS, resources.RefusedCallView), MEMBER, Scope.EVENTS_READ),
    Resource("POST", "/refused-calls/replay", replays.replay_calls, MANAGER, Scope.EVENTS_REPLAY),
    Resource("GET", "/key-rotation", replays.get_key_rotation, MEMBER, Scope.PROGRAMS_READ),
    Resource("POST", "/key-rotation", replays.decide_old_key, OWNER),
    Resource("GET", "/explain", resources.explain_sale, MEMBER, Scope.EVENTS_READ),
    Resource("GET", "/customers", listing(CUSTOMERS), MEMBER, Scope.CUSTOMERS_READ),
    Resource("GET", "/customers/{customer_id}", resources.get_customer, MEMBER, Scope.CUSTOMERS_READ),
    Resource("GET", "/commissions", listing(COMMISSIONS), MEMBER, Scope.COMMISSIONS_READ),
    Resource("PATCH", "/commissions/{commission_id}", changes.decide_commission, DECIDER),
    Resource("PATCH", "/commissions/{commission_id}", BY_AGENT, None, DECISION),
    Resource("POST", "/credits", changes.credit_sale, DECIDER, Scope.COMMISSIONS_WRITE),
    Resource("POST", "/adjustments", changes.adjust_balance, DECIDER, Scope.COMMISSIONS_WRITE),
    Resource("POST", "/customers/{customer_id}/move", changes.move_customer, DECIDER, Scope.COMMISSIONS_WRITE),
    Resource("GET", "/flags", listing(FLAGS), MEMBER, Scope.COMMISSIONS_READ),
    Resource("PATCH", "/flags/{flag_id}", changes.decide_flag, MANAGER),
    Resource("PATCH", "/flags/{flag_id}", FLAG_BY_AGENT, None, Scope.COMMISSIONS_WRITE),
    Resource("GET", f"{PAYOUT}/files/{{kind}}", payout_documents.get_payout_file, PAYER, Scope.PAYOUTS_READ),
    Resource("GET", "/statements/{number}", payout_documents.get_statement, MEMBER, Scope.PAYOUTS_READ),
    Resource("GET", "/partners", listing(PARTNERS, resources.ListedPartnerView), MEMBER, Scope.PARTNERS_READ),
    Resource("POST", "/partners", changes.enrol_partner, MANAGER, Scope.PARTNERS_WRITE),
    Resource("PATCH", "/partners/{partner_id}", changes.change_partner, MANAGER, Scope.PARTNERS_WRITE),
    Resource("GET", "/coupons", listing(COUPONS), MEMBER, Scope.PARTNERS_READ),
    Resource("POST", "/coupons", changes.create_coupon, MANAGER, Scope.PARTNERS_WRITE),
    Resource("DELETE", "/coupons/{coupon_id}", changes.end_coupon, MANAGER, Scope.PARTNERS_WRITE),
    Resource("PUT", "/partners/{partner_id}/terms", changes.set_partner_terms, OWNER, Scope.PROGRAMS_WRITE),
    Resource("PUT", "/partner-groups/{group}/terms", changes.set_group_terms, OWNER, Scope.PROGRAMS_WRITE),
    Resource("POST", "/referrals", referrals.issue_referral, MANAGER, Scope.REFERRALS_ISSUE),
    Resource("POST", "/referrals/verify", referrals.verify_referral, MEMBER, Scope.REFERRALS_ISSUE, only_reads=True),
    Resource("GET", "/payables", listing(PAYABLES), MEMBER, Scope.PAYOUTS_READ),
    Resource("GET", "/payouts", listing(PAYOUTS), MEMBER, Scope.PAYOUTS_READ),
    Resource("POST", "/payouts", payouts.draft_payout, PAYER, Scope.PAYOUTS_WRITE),
    Resource("GET", PAYOUT, payouts.get_payout, MEMBER, Scope.PAYOUTS_READ),
    Resource("DELETE", PAYOUT, payouts.discard_payout, PAYER, Scope.PAYOUTS_WRITE),
    Resource("GET", f"{PAYOUT}/lines", listing(PAYOUT_LINES, of=PAYOUTS), MEMBER, Scope.PAYOUTS_READ),
    Resource("POST", f"{PAYOUT}/confirm", payouts.confirm_payout, PAYER),
    Resource("POST", f"{PAYOUT}/send", payouts.send_payout, PAYER, Scope.COMMISSIONS_PAY),
    Resource("POST", f"{PAYOUT}/reopen", payouts.reopen_payout, PAYER, Scope.COMMISSIONS_PAY),
    Resource("POST", f"{PAYOUT}/lines/{{line_id}}/correct", payouts.correct_payout_line, PAYER, Scope.COMMISSIONS_PAY),
    Resource("GET", METHOD, payouts.get_payout_method, MEMBER, Scope.PAYOUTS_READ),
    Resource("POST", f"{METHOD}/release", payouts.release_payout_method, OWNER),
)


def routes(resources: Iterable[Resource], behind: Callable[[Resource], RouteMethod]) -> Sequence[DescribedRoute]:
    """Return a route for each path, with the operations of its resources, each `behind` the check of its audience."""
    paths: dict[str, dict[str, RouteMethod]] = {}
    for each in resources:
        paths.setdefault(each.path, {})[each.method] = behind(each)
    return [route(path, **operations) for path, operations in paths.items()]
