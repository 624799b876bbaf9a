"""The dashboard's part of the route table, with the role that each handler needs."""

from presentation.handlers import (
    audit_log,
    customers,
    events,
    flags,
    refused_calls,
    reports,
    tracking_log,
)
from presentation.handlers.commissions import list_commissions
from presentation.handlers.partners import change_partner, list_partners
from presentation.handlers.programs import list_programs
from presentation.operations import route
from tracking_api.dashboard import (
    account,
    agent_caps,
    assistants,
    commissions,
    device_login,
    integration,
    invitations,
    members,
    partners,
    payment_account,
    payment_events,
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
ROUTES = [
    route("/api/tracking/performance/{program_id}", GET=member(reports.get_performance)),
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
        POST=workspace_owner(invitations.create_reset_link),
    ),
    route(
        "/api/workspaces/{workspace_id}/invitations",
        GET=workspace_owner(invitations.list_invitations),
        POST=workspace_owner(invitations.invite),
    ),
    route(
        "/api/workspaces/{workspace_id}/invitations/{invitation_id}",
        DELETE=workspace_owner(invitations.withdraw_invitation),
    ),
    route("/api/workspaces/{workspace_id}/owner", POST=workspace_owner(members.transfer_ownership)),
    route("/api/programs", GET=signed_in(list_programs), POST=signed_in(programs.create_program)),
    route(
        PROGRAM,
        GET=member(programs.get_program),
        PATCH=owner(programs.change_program),
        DELETE=owner(programs.delete_program),
    ),
    route(f"{PROGRAM}/breakdown", GET=member(reports.get_breakdown)),
    route(f"{PROGRAM}/agent-caps", GET=member(agent_caps.get_agent_caps), PATCH=owner(agent_caps.change_agent_caps)),
    route(f"{PROGRAM}/regenerate-api-token", POST=owner(program_keys.regenerate_program_key)),
    route(f"{PROGRAM}/sandbox", POST=owner(sandboxes.open_sandbox)),
    route(f"{PROGRAM}/sandbox/payment-events", POST=owner(sandboxes.rehearse_payment_event)),
    route(f"{PROGRAM}/sandbox/events", DELETE=owner(sandboxes.empty_sandbox)),
    route(f"{PROGRAM}/partners", GET=member(list_partners), POST=owner(partners.enrol_partner)),
    route(f"{PROGRAM}/partners/{{partner_id}}", PATCH=owner(change_partner)),
    route(f"{PROGRAM}/customers", GET=member(customers.list_customers)),
    route(f"{PROGRAM}/customers/{{customer_id}}", GET=member(customers.get_customer)),
    route(f"{PROGRAM}/commissions", GET=member(list_commissions), PATCH=owner(commissions.decide_commissions)),
    route(f"{PROGRAM}/commissions/{{commission_id}}", PATCH=owner(commissions.decide_commission)),
    route(f"{PROGRAM}/flags", GET=member(flags.list_flags)),
    route(f"{PROGRAM}/flags/{{flag_id}}", PATCH=owner(flags.decide_flag)),
    route(f"{PROGRAM}/events", GET=member(events.list_events)),
    route(f"{PROGRAM}/tracking-log", GET=member(tracking_log.list_tracking_log)),
    route(f"{PROGRAM}/refused-calls", GET=member(refused_calls.list_refused_calls)),
    route(f"{PROGRAM}/audit-log", GET=member(audit_log.list_audit_log)),
    route(
        f"{PROGRAM}/payment-account",
        PUT=owner(payment_account.connect_payment_account),
        GET=owner(payment_account.get_payment_account),
        DELETE=owner(payment_account.disconnect_payment_account),
    ),
    route(f"{PROGRAM}/payment-events", GET=member(payment_events.list_payment_events)),
    route(f"{PROGRAM}/payment-events/{{event_id}}", PATCH=owner(payment_events.decide_payment_event)),
    route(f"{PROGRAM}/reconciliation", POST=member(reconciliation.reconcile_payments)),
    route(f"{PROGRAM}/integration", GET=member(integration.get_integration)),
    route(f"{PROGRAM}/explain", GET=member(reports.explain_sale)),
]
