"""The pages' part of the route table."""

from starlette.routing import Route

from tracking_api import assets
from tracking_api.dashboard.pages import (
    account,
    agent_caps,
    assistants,
    audit_log,
    checklist,
    commission,
    commission_decisions,
    commissions,
    consent,
    customer,
    customers,
    device,
    events,
    explore,
    forgotten_password,
    home,
    join,
    links,
    members,
    overview,
    partner,
    partners,
    payments,
    program_key,
    programs,
    rates,
    refused_calls,
    reset_password,
    review,
    sandbox,
    search,
    set_up,
    settings,
    sign_in,
    workspace,
)
from tracking_api.dashboard.pages.page import PageEndpoint


def _page(path: str, page: PageEndpoint) -> Route:
    return Route(path, page, methods=page.methods, include_in_schema=False)


PROGRAM = "/programs/{program_id}"
ROUTES = [
    _page("/", PageEndpoint(GET=home.show_home)),
    _page("/set-up", PageEndpoint(GET=set_up.show_set_up, POST=set_up.set_up)),
    _page("/sign-in", PageEndpoint(GET=sign_in.show_sign_in, POST=sign_in.enter)),
    _page("/sign-out", PageEndpoint(POST=sign_in.leave)),
    _page("/reset-password/{token}", PageEndpoint(GET=reset_password.show_reset, POST=reset_password.reset_password)),
    _page(
        "/forgotten-password",
        PageEndpoint(GET=forgotten_password.show_forgotten, POST=forgotten_password.send_link),
    ),
    _page("/join/{token}", PageEndpoint(GET=join.show_join, POST=join.join)),
    _page("/account", PageEndpoint(GET=account.show_account, POST=account.change_account)),
    _page("/device", PageEndpoint(GET=device.enter_device_code)),
    _page("/device/{user_code}", PageEndpoint(GET=device.show_device_login, POST=device.decide_device_login)),
    _page("/connect/{sealed}", PageEndpoint(GET=consent.show_consent, POST=consent.decide_consent)),
    _page("/assistants", PageEndpoint(GET=assistants.list_assistants)),
    _page("/assistants/{assistant_id}", PageEndpoint(POST=assistants.disconnect_assistant)),
    _page("/search", PageEndpoint(GET=search.show_results, POST=search.suggest)),
    _page("/programs", PageEndpoint(GET=programs.list_programs)),
    _page("/programs.csv", PageEndpoint(GET=programs.export_programs)),
    _page("/programs/new", PageEndpoint(GET=programs.show_new_program, POST=programs.create_program)),
    _page(PROGRAM, PageEndpoint(GET=overview.show_overview)),
    _page(f"{PROGRAM}/explore", PageEndpoint(GET=explore.show_explore)),
    _page(f"{PROGRAM}/explore.csv", PageEndpoint(GET=explore.export_card)),
    _page(f"{PROGRAM}/partners", PageEndpoint(GET=partners.list_partners, POST=partners.enrol_partner)),
    _page(f"{PROGRAM}/partners.csv", PageEndpoint(GET=partners.export_partners)),
    _page(f"{PROGRAM}/partners/{{partner_id}}", PageEndpoint(GET=partner.show_partner, POST=partners.change_partner)),
    _page(f"{PROGRAM}/partners/{{partner_id}}/edit", PageEndpoint(POST=partner.edit_partner)),
    _page(f"{PROGRAM}/partners/{{partner_id}}/qr.svg", PageEndpoint(GET=links.show_qr_code)),
    _page(f"{PROGRAM}/customers", PageEndpoint(GET=customers.list_customers)),
    _page(f"{PROGRAM}/customers.csv", PageEndpoint(GET=customers.export_customers)),
    _page(f"{PROGRAM}/customers/{{customer_id}}", PageEndpoint(GET=customer.show_customer)),
    _page(
        f"{PROGRAM}/commissions",
        PageEndpoint(GET=commissions.list_commissions, POST=commission_decisions.decide_commissions),
    ),
    _page(f"{PROGRAM}/commissions/undo", PageEndpoint(POST=commission_decisions.undo_approval)),
    _page(
        f"{PROGRAM}/commissions/{{commission_id}}",
        PageEndpoint(GET=commission.show_commission, POST=commission.approve_on_hold),
    ),
    _page(f"{PROGRAM}/commissions.csv", PageEndpoint(GET=commissions.export_commissions)),
    _page(f"{PROGRAM}/review", PageEndpoint(GET=review.list_flags)),
    _page(f"{PROGRAM}/review.csv", PageEndpoint(GET=review.export_flags)),
    _page(f"{PROGRAM}/review/{{flag_id}}", PageEndpoint(POST=review.decide_flag)),
    _page(f"{PROGRAM}/events", PageEndpoint(GET=events.list_events)),
    _page(f"{PROGRAM}/events.csv", PageEndpoint(GET=events.export_events)),
    _page(f"{PROGRAM}/refused-calls", PageEndpoint(GET=refused_calls.list_refused_calls)),
    _page(f"{PROGRAM}/settings", PageEndpoint(GET=settings.show_settings, POST=settings.change_settings)),
    _page(f"{PROGRAM}/settings/rates", PageEndpoint(GET=rates.show_rates, POST=rates.import_rates)),
    _page(f"{PROGRAM}/settings/delete", PageEndpoint(POST=settings.delete_program)),
    _page(
        f"{PROGRAM}/settings/api-keys",
        PageEndpoint(GET=program_key.show_program_key, POST=program_key.regenerate_program_key),
    ),
    _page(f"{PROGRAM}/settings/sandbox", PageEndpoint(GET=sandbox.show_sandbox, POST=sandbox.change_sandbox)),
    _page(f"{PROGRAM}/settings/checklist", PageEndpoint(GET=checklist.show_checklist)),
    _page(f"{PROGRAM}/sample-page", PageEndpoint(GET=checklist.show_sample_page)),
    _page(
        f"{PROGRAM}/settings/payments", PageEndpoint(GET=payments.show_payments, POST=payments.change_payment_account)
    ),
    _page(f"{PROGRAM}/settings/payments/{{event_id}}", PageEndpoint(POST=payments.decide_payment_event)),
    _page(
        f"{PROGRAM}/settings/agent-caps",
        PageEndpoint(GET=agent_caps.show_agent_caps, POST=agent_caps.change_agent_caps),
    ),
    _page(
        f"{PROGRAM}/settings/workspace",
        PageEndpoint(GET=workspace.show_workspace, POST=workspace.change_workspace),
    ),
    _page(f"{PROGRAM}/settings/workspace/logo", PageEndpoint(POST=workspace.change_logo)),
    _page("/workspaces/{workspace_id}/logo/{version}", PageEndpoint(GET=workspace.show_logo)),
    _page(f"{PROGRAM}/settings/members", PageEndpoint(GET=members.list_members, POST=members.change_members)),
    _page(f"{PROGRAM}/settings/audit-log", PageEndpoint(GET=audit_log.list_audit_log)),
    _page(f"{PROGRAM}/settings/audit-log.csv", PageEndpoint(GET=audit_log.export_audit_log)),
    _page(f"{PROGRAM}/settings/payments.csv", PageEndpoint(GET=payments.export_payments)),
    _page(f"{PROGRAM}/refused-calls.csv", PageEndpoint(GET=refused_calls.export_refused_calls)),
    Route("/static/{version}/{name:path}", assets.page_asset, include_in_schema=False),
]
