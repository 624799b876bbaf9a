"""The dashboard's part of the route table, with the role that each operation needs."""

from collections.abc import Iterable, Sequence

from presentation import reads, resource_table
from presentation.lists import listing
from presentation.operations import DescribedRoute, route
from presentation.resource_table import MEMBER, OWNER, RESOURCES, Resource
from presentation.resources import ProgramView
from storage.lists.payment_events import PAYMENT_EVENTS
from storage.lists.programs import PROGRAMS
from tracking_api.dashboard import (
    account,
    agent_caps,
    assistants,
    commissions,
    device_login,
    integration,
    members,
    payments,
    program_keys,
    programs,
    reconciliation,
    sandboxes,
    second_factor,
    sessions,
    workspaces,
)
from tracking_api.dashboard.roles import member, owner, signed_in, workspace_member, workspace_owner

PROGRAM = "/api/programs/{program_id}"


def served(resources: Iterable[Resource]) -> Sequence[DescribedRoute]:
    """Return the routes of the resources of a program that are for its members or owners."""
    within = [each._replace(path=PROGRAM + each.path) for each in resources if each.role]
    return resource_table.routes(within, lambda each: (owner if each.role == OWNER else member)(each.operation))


OF_MEMBERS = (
    Resource("GET", "", programs.get_program, MEMBER),
    Resource("PATCH", "", programs.change_program, OWNER),
    Resource("DELETE", "", programs.delete_program, OWNER),
    Resource("GET", "/agent-caps", agent_caps.get_agent_caps, MEMBER),
    Resource("PATCH", "/agent-caps", agent_caps.change_agent_caps, OWNER),
    Resource("POST", "/regenerate-api-token", program_keys.regenerate_program_key, OWNER),
    Resource("POST", "/sandbox", sandboxes.open_sandbox, OWNER),
    Resource("POST", "/sandbox/payment-events", sandboxes.rehearse_payment_event, OWNER),
    Resource("DELETE", "/sandbox/events", sandboxes.empty_sandbox, OWNER),
    Resource("PATCH", "/commissions", commissions.decide_commissions, OWNER),
    Resource("PUT", "/payment-account", payments.connect_payment_account, OWNER),
    Resource("GET", "/payment-account", payments.get_payment_account, OWNER),
    Resource("DELETE", "/payment-account", payments.disconnect_payment_account, OWNER),
    Resource("GET", "/payment-events", listing(PAYMENT_EVENTS, tag="payments"), MEMBER),
    Resource("PATCH", "/payment-events/{event_id}", payments.decide_payment_event, OWNER),
    Resource("POST", "/reconciliation", reconciliation.reconcile_payments, MEMBER),
    Resource("GET", "/integration", integration.get_integration, MEMBER),
)
ROUTES = [
    route("/api/tracking/performance/{program_id}", GET=member(reads.get_performance)),
    route("/api/auth/login", POST=sessions.log_in),
    route("/api/auth/logout", POST=sessions.log_out),
    route("/api/auth/me", GET=signed_in(sessions.get_session)),
    route(
        "/api/auth/preferences",
        GET=signed_in(account.get_preferences),
        PATCH=signed_in(account.change_preferences),
    ),
    route("/api/auth/password", POST=signed_in(account.change_password)),
    route("/api/auth/sessions", GET=signed_in(account.list_sessions), DELETE=signed_in(account.end_other_sessions)),
    route("/api/auth/sessions/{session_id}", DELETE=signed_in(account.end_session)),
    route(
        "/api/auth/second-factor",
        GET=signed_in(second_factor.get_second_factor),
        POST=signed_in(second_factor.enrol_second_factor),
    ),
    route("/api/auth/second-factor/confirm", POST=signed_in(second_factor.confirm_second_factor)),
    route("/api/auth/second-factor/disable", POST=signed_in(second_factor.disable_second_factor)),
    route("/api/auth/device", POST=device_login.start_device_login),
    route("/api/auth/device/token", POST=device_login.poll_device_login),
    route("/api/assistants", GET=signed_in(assistants.list_assistants)),
    route("/api/assistants/{assistant_id}", DELETE=signed_in(assistants.disconnect_assistant)),
    route(
        "/api/workspaces/{workspace_id}",
        GET=workspace_member(workspaces.get_workspace),
        PATCH=workspace_owner(workspaces.change_workspace),
    ),
    route(
        "/api/workspaces/{workspace_id}/logo",
        PUT=workspace_owner(workspaces.replace_logo),
        DELETE=workspace_owner(workspaces.remove_logo),
    ),
    route("/api/workspaces/{workspace_id}/members", GET=workspace_member(members.list_members)),
    route(
        "/api/workspaces/{workspace_id}/members/{user_id}",
        PATCH=workspace_owner(members.change_member),
        DELETE=workspace_owner(members.remove_member),
    ),
    route(
        "/api/workspaces/{workspace_id}/members/{user_id}/reset-link",
        POST=workspace_owner(members.create_reset_link),
    ),
    route(
        "/api/workspaces/{workspace_id}/invitations",
        GET=workspace_owner(members.list_invitations),
        POST=workspace_owner(members.invite),
    ),
    route(
        "/api/workspaces/{workspace_id}/invitations/{invitation_id}",
        DELETE=workspace_owner(members.withdraw_invitation),
    ),
    route("/api/workspaces/{workspace_id}/owner", POST=workspace_owner(members.transfer_ownership)),
    *served([*RESOURCES, *OF_MEMBERS]),
    route("/api/programs", GET=signed_in(listing(PROGRAMS, ProgramView)), POST=signed_in(programs.create_program)),
]
