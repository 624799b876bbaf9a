"""The pages' part of the route table."""

from starlette.routing import Route

from tracking_api import assets
from tracking_api.dashboard import agent_caps, assistants, program_keys, programs, sandboxes, workspaces
from tracking_api.dashboard.pages import (
    account,
    checklist,
    commission,
    commissions,
    consent,
    customers,
    device,
    explore,
    forgotten_password,
    home,
    join,
    links,
    logs,
    members,
    overview,
    partners,
    payments,
    program_list,
    rates,
    review,
    search,
    set_up,
    sign_in,
)
from tracking_api.dashboard.pages.lists import ListPage
from tracking_api.dashboard.pages.page import Handler, PageEndpoint


def _page(path: str, page: PageEndpoint) -> Route:
    return Route(path, page, methods=page.methods, include_in_schema=False)


def list_routes(path: str, page: ListPage, **forms: Handler) -> list[Route]:
    """Return the routes of a list and of its CSV file."""
    return [_page(path, PageEndpoint(GET=page.show, **forms)), _page(f"{path}.csv", PageEndpoint(GET=page.export))]


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
    *list_routes(f"{PROGRAM}/partners", partners.PARTNER_LIST, POST=partners.ENROL.press),
    _page(f"{PROGRAM}/partners/{{partner_id}}", PageEndpoint(GET=partners.EDIT.show, POST=partners.pause)),
    _page(f"{PROGRAM}/partners/{{partner_id}}/edit", PageEndpoint(POST=partners.EDIT.press)),
    _page(f"{PROGRAM}/partners/{{partner_id}}/qr.svg", PageEndpoint(GET=links.show_qr_code)),
    *list_routes(f"{PROGRAM}/customers", customers.CUSTOMER_LIST),
    _page(f"{PROGRAM}/customers/{{customer_id}}", PageEndpoint(GET=customers.show_customer)),
    *list_routes(f"{PROGRAM}/commissions", commissions.COMMISSION_LIST, POST=commissions.decide_selected),
    _page(f"{PROGRAM}/commissions/approve-all", PageEndpoint(POST=commissions.approve_all)),
    _page(f"{PROGRAM}/commissions/undo", PageEndpoint(POST=commissions.undo_approval)),
    _page(
        f"{PROGRAM}/commissions/{{commission_id}}",
        PageEndpoint(GET=commission.show_commission, POST=commission.approve_on_hold),
    ),
    *list_routes(f"{PROGRAM}/review", review.FLAG_LIST),
    _page(f"{PROGRAM}/review/{{flag_id}}", PageEndpoint(POST=review.decide)),
    *list_routes(f"{PROGRAM}/events", logs.EVENT_LIST),
    *list_routes(f"{PROGRAM}/refused-calls", logs.REJECTED_CALL_LIST),
    *list_routes(f"{PROGRAM}/settings/audit-log", logs.AUDIT_LIST),
    *list_routes(f"{PROGRAM}/settings/payments", payments.PAYMENT_LIST, POST=payments.ACCOUNT.press),
    _page(f"{PROGRAM}/settings/payments/{{event_id}}", PageEndpoint(POST=payments.decide)),
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
    Route("/static/{version}/{name:path}", assets.page_asset, include_in_schema=False),
]
