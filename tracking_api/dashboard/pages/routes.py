"""The pages' part of the route table."""

from starlette.routing import Route

from tracking_api import assets
from tracking_api.dashboard import (
    account,
    assistants,
    commissions,
    device_login,
    members,
    payments,
    program_keys,
    programs,
    workspaces,
)
from tracking_api.dashboard.pages import (
    customers,
    explore,
    imports,
    logs,
    one_time_links,
    overview,
    partners,
    program_list,
    review,
    saved_views,
    search,
    set_up,
    sign_in,
)
from tracking_api.dashboard.pages.lists import ListPage
from tracking_api.dashboard.pages.page import Handler, page


def list_routes(path: str, shown: ListPage, **forms: Handler) -> list[Route]:
    """Return the routes of a list and of its CSV file."""
    return [page(path, GET=shown.show, **forms), page(f"{path}.csv", GET=shown.export)]


PROGRAM = "/programs/{program_id}"
ROUTES = [
    page("/", GET=set_up.show_home),
    page("/set-up", GET=set_up.show_set_up, POST=set_up.set_up),
    page("/sign-in", GET=sign_in.show_sign_in, POST=sign_in.enter),
    page("/sign-out", POST=sign_in.leave),
    page("/reset-password", GET=one_time_links.RESET.show, POST=one_time_links.RESET.press),
    page("/forgotten-password", GET=one_time_links.show_forgotten, POST=one_time_links.send_link),
    page("/join", GET=one_time_links.JOIN.show, POST=one_time_links.JOIN.press),
    page("/account", GET=account.PAGE.show, POST=account.PAGE.press),
    page("/device", GET=device_login.enter_device_code),
    page("/device/{user_code}", GET=device_login.show_device_login, POST=device_login.decide_device_login),
    page("/connect/{sealed}", GET=assistants.show_consent, POST=assistants.decide_consent),
    page("/assistants", GET=assistants.show_assistants),
    page("/assistants/{assistant_id}", POST=assistants.DISCONNECT.press),
    page("/reports/{sealed}", GET=saved_views.show_shared),
    page("/search", GET=search.show_results, POST=search.suggest),
    *list_routes("/programs", program_list.PROGRAM_LIST),
    page("/programs/new", GET=programs.NEW.show, POST=programs.NEW.press),
    page(PROGRAM, GET=overview.show_overview),
    page(f"{PROGRAM}/import", GET=imports.IMPORT.show, POST=imports.import_files),
    page(f"{PROGRAM}/import/undo", POST=imports.undo_import),
    page(f"{PROGRAM}/explore", GET=saved_views.show_explore, POST=saved_views.change_view),
    page(f"{PROGRAM}/explore/rows", GET=explore.show_rows),
    page(f"{PROGRAM}/explore.csv", GET=explore.export_card),
    *list_routes(f"{PROGRAM}/partners", partners.PARTNER_LIST, POST=partners.ENROL.press),
    page(f"{PROGRAM}/partners/selected", POST=partners.PAUSE_SELECTED.press),
    page(f"{PROGRAM}/partners/{{partner_id}}", GET=partners.EDIT.show, POST=partners.PAUSE.press),
    page(f"{PROGRAM}/partners/{{partner_id}}/edit", POST=partners.EDIT.press),
    page(f"{PROGRAM}/partners/{{partner_id}}/balance", POST=partners.ADJUST.press),
    page(f"{PROGRAM}/partners/{{partner_id}}/qr.svg", GET=partners.show_qr_code),
    *list_routes(f"{PROGRAM}/customers", customers.CUSTOMER_LIST),
    page(f"{PROGRAM}/customers/{{customer_id}}", GET=customers.PAGE.show, POST=customers.PAGE.press),
    page(f"{PROGRAM}/missing-sale", GET=customers.MISSING_SALE.show, POST=customers.MISSING_SALE.press),
    *list_routes(f"{PROGRAM}/commissions", commissions.COMMISSION_LIST, POST=commissions.decide_selected),
    page(f"{PROGRAM}/commissions/approve-all", POST=commissions.approve_all),
    page(f"{PROGRAM}/commissions/undo", POST=commissions.undo_approval),
    page(f"{PROGRAM}/commissions/{{commission_id}}", GET=partners.COMMISSION.show, POST=partners.COMMISSION.press),
    *list_routes(f"{PROGRAM}/review", review.FLAG_LIST),
    page(f"{PROGRAM}/review/selected", POST=review.DECIDE_SELECTED.press),
    page(f"{PROGRAM}/review/{{flag_id}}", POST=review.DECIDE.press),
    *list_routes(f"{PROGRAM}/events", logs.EVENT_LIST),
    *list_routes(f"{PROGRAM}/refused-calls", logs.REJECTED_CALL_LIST),
    *list_routes(f"{PROGRAM}/settings/audit-log", logs.AUDIT_LIST),
    *list_routes(f"{PROGRAM}/settings/payments", payments.PAYMENT_LIST, POST=payments.ACCOUNT.press),
    page(f"{PROGRAM}/settings/payments/selected", POST=payments.DECIDE_SELECTED.press),
    page(f"{PROGRAM}/settings/payments/{{event_id}}", POST=payments.DECIDE.press),
    page(f"{PROGRAM}/settings", GET=programs.SETTINGS_PAGE.show, POST=programs.SETTINGS_PAGE.press),
    page(f"{PROGRAM}/settings/rates", GET=imports.RATES.show, POST=imports.import_rates),
    page(f"{PROGRAM}/settings/delete", POST=programs.DELETE.press),
    page(f"{PROGRAM}/settings/api-keys", GET=program_keys.PAGE.show, POST=program_keys.PAGE.press),
    page(f"{PROGRAM}/settings/sandbox", GET=program_keys.SANDBOX_PAGE.show, POST=program_keys.SANDBOX_PAGE.press),
    page(f"{PROGRAM}/settings/checklist", GET=overview.show_checklist),
    page(f"{PROGRAM}/sample-page", GET=overview.show_sample_page),
    page(f"{PROGRAM}/settings/agent-caps", GET=programs.CAPS_PAGE.show, POST=programs.CAPS_PAGE.press),
    page(f"{PROGRAM}/settings/workspace", GET=workspaces.PAGE.show, POST=workspaces.PAGE.press),
    page(f"{PROGRAM}/settings/workspace/logo", POST=workspaces.LOGO_FORM.press),
    page("/workspaces/{workspace_id}/logo/{version}", GET=workspaces.show_logo),
    page(f"{PROGRAM}/settings/members", GET=members.PAGE.show, POST=members.PAGE.press),
    Route("/static/{version}/{name:path}", assets.page_asset, include_in_schema=False),
]
