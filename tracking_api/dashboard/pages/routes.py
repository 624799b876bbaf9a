"""The pages' part of the route table."""

from starlette.routing import Route

from tracking_api import assets
from tracking_api.dashboard import agent_caps, assistants, program_keys, programs, sandboxes, workspaces
from tracking_api.dashboard.pages import (
    account,
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
    program_list,
    rates,
    refused_calls,
    review,
    search,
    set_up,
    sign_in,
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
    _page(
        "/reset-password/{token}",
        PageEndpoint(GET=forgotten_password.show_reset, POST=forgotten_password.reset_password),
    ),
    _page(
        "/forgotten-password",
        PageEndpoint(GET=forgotten_password.show_forgotten, POST=forgotten_password.send_link),
    ),
    _page("/join/{token}", PageEndpoint(GET=join.show_join, POST=join.join)),
    _page("/account", PageEndpoint(GET=account.show_account, POST=account.change_account)),
    _page("/device", PageEndpoint(GET=device.enter_device_code)),
    _page("/device/{user_code}", PageEndpoint(GET=device.show_device_login, POST=device.decide_device_login)),
    _page("/connect/{sealed}", PageEndpoint(GET=consent.show_consent, POST=consent.decide_consent)),
    _page("/assistants", PageEndpoint(GET=assistants.show_assistants)),
    _page("/assistants/{assistant_id}", PageEndpoint(POST=assistants.disconnect)),
    _page("/search", PageEndpoint(GET=search.show_results, POST=search.suggest)),
    _page("/programs", PageEndpoint(GET=program_list.list_programs)),
    _page("/programs.csv", PageEndpoint(GET=program_list.export_programs)),
    _page("/programs/new", PageEndpoint(GET=programs.show_new_program, POST=programs.create)),
    _page(PROGRAM, PageEndpoint(GET=overview.show_overview)),
    _page(f"{PROGRAM}/explore", PageEndpoint(GET=explore.show_explore)),
    _page(f"{PROGRAM}/explore.csv", PageEndpoint(GET=explore.export_card)),
    _page(f"{PROGRAM}/partners", PageEndpoint(GET=partners.list_partners, POST=partners.enrol_partner)),
    _page(f"{PROGRAM}/partners.csv", PageEndpoint(GET=partners.PARTNER_LIST.export)),
    _page(f"{PROGRAM}/partners/{{partner_id}}", PageEndpoint(GET=partner.show_partner, POST=partners.change_partner)),
    _page(f"{PROGRAM}/partners/{{partner_id}}/edit", PageEndpoint(POST=partner.edit_partner)),
    _page(f"{PROGRAM}/partners/{{partner_id}}/qr.svg", PageEndpoint(GET=links.show_qr_code)),
    _page(f"{PROGRAM}/customers", PageEndpoint(GET=customers.CUSTOMER_LIST.show)),
    _page(f"{PROGRAM}/customers.csv", PageEndpoint(GET=customers.CUSTOMER_LIST.export)),
    _page(f"{PROGRAM}/customers/{{customer_id}}", PageEndpoint(GET=customer.show_customer)),
    _page(
        f"{PROGRAM}/commissions",
        PageEndpoint(GET=commissions.COMMISSION_LIST.show, POST=commission_decisions.decide_commissions),
    ),
    _page(f"{PROGRAM}/commissions/approve-all", PageEndpoint(POST=commission_decisions.approve_all)),
    _page(f"{PROGRAM}/commissions/undo", PageEndpoint(POST=commission_decisions.undo_approval)),
    _page(
        f"{PROGRAM}/commissions/{{commission_id}}",
        PageEndpoint(GET=commission.show_commission, POST=commission.approve_on_hold),
    ),
    _page(f"{PROGRAM}/commissions.csv", PageEndpoint(GET=commissions.COMMISSION_LIST.export)),
    _page(f"{PROGRAM}/review", PageEndpoint(GET=review.FLAG_LIST.show)),
    _page(f"{PROGRAM}/review.csv", PageEndpoint(GET=review.FLAG_LIST.export)),
    _page(f"{PROGRAM}/review/{{flag_id}}", PageEndpoint(POST=review.decide_flag)),
    _page(f"{PROGRAM}/events", PageEndpoint(GET=events.list_events)),
    _page(f"{PROGRAM}/events.csv", PageEndpoint(GET=events.EVENT_LIST.export)),
    _page(f"{PROGRAM}/refused-calls", PageEndpoint(GET=refused_calls.REJECTED_CALL_LIST.show)),
    _page(f"{PROGRAM}/settings", PageEndpoint(GET=programs.SETTINGS_PAGE.show, POST=programs.change_settings)),
    _page(f"{PROGRAM}/settings/rates", PageEndpoint(GET=rates.show_rates, POST=rates.import_rates)),
    _page(f"{PROGRAM}/settings/delete", PageEndpoint(POST=programs.SETTINGS_PAGE.press)),
    _page(
        f"{PROGRAM}/settings/api-keys",
        PageEndpoint(GET=program_keys.show_program_key, POST=program_keys.replace_program_key),
    ),
    _page(f"{PROGRAM}/settings/sandbox", PageEndpoint(GET=sandboxes.PAGE.show, POST=sandboxes.PAGE.press)),
    _page(f"{PROGRAM}/settings/checklist", PageEndpoint(GET=checklist.show_checklist)),
    _page(f"{PROGRAM}/sample-page", PageEndpoint(GET=checklist.show_sample_page)),
    _page(
        f"{PROGRAM}/settings/payments", PageEndpoint(GET=payments.show_payments, POST=payments.change_payment_account)
    ),
    _page(f"{PROGRAM}/settings/payments/{{event_id}}", PageEndpoint(POST=payments.decide_payment_event)),
    _page(
        f"{PROGRAM}/settings/agent-caps",
        PageEndpoint(GET=agent_caps.PAGE.show, POST=agent_caps.PAGE.press),
    ),
    _page(
        f"{PROGRAM}/settings/workspace",
        PageEndpoint(GET=workspaces.PAGE.show, POST=workspaces.PAGE.press),
    ),
    _page(f"{PROGRAM}/settings/workspace/logo", PageEndpoint(POST=workspaces.LOGO_FORM.press)),
    _page("/workspaces/{workspace_id}/logo/{version}", PageEndpoint(GET=workspaces.show_logo)),
    _page(f"{PROGRAM}/settings/members", PageEndpoint(GET=members.list_members, POST=members.change_members)),
    _page(f"{PROGRAM}/settings/audit-log", PageEndpoint(GET=audit_log.AUDIT_LIST.show)),
    _page(f"{PROGRAM}/settings/audit-log.csv", PageEndpoint(GET=audit_log.AUDIT_LIST.export)),
    _page(f"{PROGRAM}/settings/payments.csv", PageEndpoint(GET=payments.PAYMENT_LIST.export)),
    _page(f"{PROGRAM}/refused-calls.csv", PageEndpoint(GET=refused_calls.REJECTED_CALL_LIST.export)),
    Route("/static/{version}/{name:path}", assets.page_asset, include_in_schema=False),
]
