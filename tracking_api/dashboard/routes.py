"""The dashboard's part of the route table, with the role that each operation needs."""

from collections.abc import Iterable, Sequence
from typing import Any

from presentation import reads, resource_table
from presentation.lists import listing
from presentation.operations import DescribedRoute, route
from presentation.resource_table import DECIDER, MEMBER, OWNER, RESOURCES, Resource
from presentation.resources import ProgramView
from storage.lists.payment_events import PAYMENT_EVENTS
from storage.lists.programs import PROGRAMS
from tracking_api.dashboard import (
    account,
    assistants,
    commissions,
    device_login,
    members,
    payments,
    program_keys,
    programs,
    reconciliation,
    sessions,
    workspaces,
)
from tracking_api.dashboard.authentication import behind, of_program, of_workspace, visitor_request

PROGRAM = "/api/programs/{program_id}"


def served(resources: Iterable[Resource], path: str = PROGRAM, identify: Any = of_program) -> Sequence[DescribedRoute]:
    """Return the routes of the resources under a path, by default a program's, that are for its members."""
    within = [each._replace(path=path + each.path) for each in resources if each.roles]
    return resource_table.routes(within, lambda each: behind(each.operation, identify, each.roles or ()))


OF_ACCOUNT = (
    Resource("GET", "/auth/me", sessions.get_session, MEMBER),
    Resource("GET", "/auth/preferences", account.get_preferences, MEMBER),
    Resource("PATCH", "/auth/preferences", account.change_preferences, MEMBER),
    Resource("POST", "/auth/password", account.change_password, MEMBER),
    Resource("GET", "/auth/sessions", account.list_sessions, MEMBER),
    Resource("DELETE", "/auth/sessions", account.end_other_sessions, MEMBER),
    Resource("DELETE", "/auth/sessions/{session_id}", account.end_session, MEMBER),
    Resource("GET", "/auth/second-factor", account.get_second_factor, MEMBER),
    Resource("POST", "/auth/second-factor", account.enrol_second_factor, MEMBER),
    Resource("POST", "/auth/second-factor/confirm", account.confirm_second_factor, MEMBER),
    Resource("POST", "/auth/second-factor/disable", account.disable_second_factor, MEMBER),
    Resource("GET", "/assistants", assistants.list_assistants, MEMBER),
    Resource("DELETE", "/assistants/{assistant_id}", assistants.disconnect_assistant, MEMBER),
    Resource("GET", "/programs", listing(PROGRAMS, ProgramView), MEMBER),
    Resource("POST", "/programs", programs.create_program, MEMBER),
)
OF_WORKSPACE = (
    Resource("GET", "", workspaces.get_workspace, MEMBER),
    Resource("PATCH", "", workspaces.change_workspace, OWNER),
    Resource("PUT", "/logo", workspaces.replace_logo, OWNER),
    Resource("DELETE", "/logo", workspaces.remove_logo, OWNER),
    Resource("GET", "/members", members.list_members, MEMBER),
    Resource("PATCH", "/members/{user_id}", members.change_member, OWNER),
    Resource("DELETE", "/members/{user_id}", members.remove_member, OWNER),
    Resource("POST", "/members/{user_id}/reset-link", members.create_reset_link, OWNER),
    Resource("GET", "/invitations", members.list_invitations, OWNER),
    Resource("POST", "/invitations", members.invite, OWNER),
    Resource("DELETE", "/invitations/{invitation_id}", members.withdraw_invitation, OWNER),
    Resource("POST", "/owner", members.transfer_ownership, OWNER),
)
OF_MEMBERS = (
    Resource("GET", "", programs.get_program, MEMBER),
    Resource("PATCH", "", programs.change_program, OWNER),
    Resource("DELETE", "", programs.delete_program, OWNER),
    Resource("GET", "/agent-caps", programs.get_agent_caps, MEMBER),
    Resource("PATCH", "/agent-caps", programs.change_agent_caps, OWNER),
    Resource("POST", "/regenerate-api-token", program_keys.regenerate_program_key, OWNER),
    Resource("POST", "/sandbox", program_keys.open_sandbox, OWNER),
    Resource("POST", "/sandbox/payment-events", program_keys.rehearse_payment_event, OWNER),
    Resource("DELETE", "/sandbox/events", program_keys.empty_sandbox, OWNER),
    Resource("PATCH", "/commissions", commissions.decide_commissions, DECIDER),
    Resource("PUT", "/payment-account", payments.connect_payment_account, OWNER),
    Resource("GET", "/payment-account", payments.get_payment_account, OWNER),
    Resource("DELETE", "/payment-account", payments.disconnect_payment_account, OWNER),
    Resource("GET", "/payment-events", listing(PAYMENT_EVENTS, tag="payments"), MEMBER),
    Resource("PATCH", "/payment-events/{event_id}", payments.decide_payment_event, OWNER),
    Resource("POST", "/reconciliation", reconciliation.reconcile_payments, MEMBER),
    Resource("GET", "/integration", programs.get_integration, MEMBER),
)
ROUTES = [
    route("/api/tracking/performance/{program_id}", GET=behind(reads.get_performance, of_program)),
    route("/api/auth/login", POST=sessions.log_in),
    route("/api/auth/logout", POST=sessions.log_out),
    route("/api/auth/device", POST=device_login.start_device_login),
    route("/api/auth/device/token", POST=device_login.poll_device_login),
    *served(OF_ACCOUNT, "/api", visitor_request),
    *served(OF_WORKSPACE, "/api/workspaces/{workspace_id}", of_workspace),
    *served([*RESOURCES, *OF_MEMBERS]),
]
