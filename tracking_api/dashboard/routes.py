"""The dashboard's part of the route table: the operations with the role that each needs, and the pages."""

from collections.abc import Iterable, Sequence
from typing import Any

from starlette.routing import Route

from presentation import lists, report, resource_table
from presentation.operations import DescribedRoute, route
from presentation.plans import PLAN_RESOURCES
from presentation.resource_table import DECIDER, MANAGER, MEMBER, METHOD, OWNER, PAYER, RESOURCES, Resource
from presentation.resources import ProgramView
from storage.lists.applications import APPLICATIONS
from storage.lists.payment_events import PAYMENT_EVENTS
from storage.lists.programs import PROGRAMS
from storage.lists.sale_questions import SALE_QUESTIONS
from tracking_api import assets, stripe_events
from tracking_api.dashboard import account, commissions, connected, members, payments, plans, programs, sessions
from tracking_api.dashboard import partner_portal as portal
from tracking_api.dashboard.authentication import behind, of_program, of_workspace, visitor_request
from tracking_api.dashboard.pages import explore, imports, links, overview, partners, records, replays, search, sign_in
from tracking_api.dashboard.pages import payouts as payout_pages
from tracking_api.dashboard.pages.lists import ListPage
from tracking_api.dashboard.pages.page import page

API = "/api/programs/{program_id}"
PROGRAM = "/programs/{program_id}"


def served(resources: Iterable[Resource], path: str = API, identify: Any = of_program) -> Sequence[DescribedRoute]:
    """Return the routes of the resources under a path, by default a program's, that are for its members."""
    within = [each._replace(path=path + each.path) for each in resources if each.roles]
    return resource_table.routes(within, lambda each: behind(each.operation, identify, each.roles or ()))


def form_route(path: str, shown: Any) -> Route:
    """Return the route of a page with a form."""
    return page(path, GET=shown.show, POST=shown.press)


def list_routes(path: str, shown: ListPage, **forms: Any) -> list[Route]:
    """Return the routes of a list and of its CSV file."""
    return [page(path, GET=shown.show, **forms), page(f"{path}.csv", GET=shown.export)]


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
    Resource("GET", "/assistants", connected.list_assistants, MEMBER),
    Resource("DELETE", "/assistants/{assistant_id}", connected.disconnect_assistant, MEMBER),
    Resource("GET", "/programs", lists.listing(PROGRAMS, ProgramView), MEMBER),
    Resource("POST", "/programs", programs.create_program, MEMBER),
)
OF_WORKSPACE = (
    Resource("GET", "", members.get_workspace, MEMBER),
    Resource("PATCH", "", members.change_workspace, OWNER),
    Resource("PUT", "/logo", members.replace_logo, OWNER),
    Resource("DELETE", "/logo", members.remove_logo, OWNER),
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
    Resource("DELETE", "", programs.delete_program, OWNER),
    Resource("GET", "/agent-caps", programs.get_agent_caps, MEMBER),
    Resource("PATCH", "/agent-caps", programs.change_agent_caps, OWNER),
    Resource("POST", "/regenerate-api-token", programs.regenerate_program_key, OWNER),
    Resource("POST", "/sandbox", programs.open_sandbox, OWNER),
    Resource("POST", "/sandbox/payment-events", stripe_events.rehearse_payment_event, OWNER),
    Resource("DELETE", "/sandbox/events", programs.empty_sandbox, OWNER),
    Resource("GET", "/applications", lists.listing(APPLICATIONS), MEMBER),
    Resource("PATCH", "/applications/{application_id}", portal.decide_application, MANAGER),
    Resource("GET", "/sale-questions", lists.listing(SALE_QUESTIONS), MEMBER),
    Resource("PATCH", "/sale-questions/{question_id}", portal.answer_sale_question, MANAGER),
    Resource("POST", "/partners/{partner_id}/portal", portal.invite_to_portal, MANAGER),
    Resource("DELETE", "/partners/{partner_id}/portal", portal.revoke_portal, MANAGER),
    Resource("PATCH", "/commissions", commissions.decide_commissions, DECIDER),
    Resource("PUT", "/payment-account", payments.connect_payment_account, OWNER),
    Resource("GET", "/payment-account", payments.get_payment_account, OWNER),
    Resource("DELETE", "/payment-account", payments.disconnect_payment_account, OWNER),
    Resource("GET", "/payment-events", lists.listing(PAYMENT_EVENTS, tag="payments"), MEMBER),
    Resource("PATCH", "/payment-events/{event_id}", payments.decide_payment_event, OWNER),
    Resource("POST", "/reconciliation", stripe_events.reconcile_payments, MEMBER),
    Resource("PUT", METHOD, portal.change_payout_method, PAYER),
    Resource("GET", "/integration", programs.get_integration, MEMBER),
)
ROUTES = [
    route("/api/tracking/performance/{program_id}", GET=behind(report.get_performance, of_program)),
    route("/api/auth/login", POST=sessions.log_in),
    route("/api/auth/logout", POST=sessions.log_out),
    route("/api/auth/device", POST=connected.start_device_login),
    route("/api/auth/device/token", POST=connected.poll_device_login),
    *served(OF_ACCOUNT, "/api", visitor_request),
    *served(OF_WORKSPACE, "/api/workspaces/{workspace_id}", of_workspace),
    *served([*RESOURCES, *PLAN_RESOURCES, *OF_MEMBERS]),
]
PAGES = [
    page("/", GET=sign_in.show_home),
    page("/set-up", GET=sign_in.show_set_up, POST=sign_in.set_up),
    page("/sign-in", GET=sign_in.show_sign_in, POST=sign_in.enter),
    page("/sign-out", POST=sign_in.leave),
    form_route("/reset-password", links.RESET),
    form_route("/forgotten-password", links.FORGOTTEN),
    form_route("/join", links.JOIN),
    form_route("/account", account.PAGE),
    page("/device", GET=connected.enter_device_code),
    page("/device/{user_code}", GET=connected.show_device_login, POST=connected.decide_device_login),
    page("/connect/{sealed}", GET=connected.show_consent, POST=connected.decide_consent),
    page("/assistants", GET=connected.ASSISTANTS.show),
    page("/assistants/{assistant_id}", POST=connected.ASSISTANTS.press),
    page("/reports/{sealed}", GET=explore.show_shared),
    page("/search", GET=search.show_results, POST=search.show_results),
    *list_routes("/programs", overview.PROGRAM_LIST),
    form_route("/programs/new", programs.NEW),
    page(PROGRAM, GET=overview.show_overview),
    page(f"{PROGRAM}/import", GET=imports.IMPORT.show, POST=imports.import_files),
    page(f"{PROGRAM}/explore", GET=explore.show_explore, POST=explore.change_view),
    page(f"{PROGRAM}/explore/rows", GET=explore.show_rows),
    *list_routes(f"{PROGRAM}/plans", plans.PLAN_LIST, POST=plans.SEND.press),
    page(f"{PROGRAM}/plans/{{plan_id}}", POST=plans.DECIDE.press),
    page(f"{PROGRAM}/explore.csv", GET=explore.export_card),
    *list_routes(f"{PROGRAM}/partners", partners.PARTNER_LIST, POST=partners.ENROL.press),
    page(f"{PROGRAM}/partners/selected", POST=partners.STATUS.press_selected),
    form_route(f"{PROGRAM}/partners/{{partner_id}}", partners.PAGE),
    page(f"{PROGRAM}/partners/{{partner_id}}/status", POST=partners.STATUS.press),
    page(f"{PROGRAM}/partners/{{partner_id}}/qr.svg", GET=partners.show_qr_code),
    *list_routes(f"{PROGRAM}/customers", records.CUSTOMER_LIST),
    form_route(f"{PROGRAM}/customers/{{customer_id}}", records.PAGE),
    form_route(f"{PROGRAM}/missing-sale", records.MISSING_SALE),
    *list_routes(f"{PROGRAM}/commissions", commissions.COMMISSION_LIST, POST=commissions.decide_selected),
    page(f"{PROGRAM}/commissions/approve-all", POST=commissions.approve_all),
    page(f"{PROGRAM}/commissions/undo", POST=commissions.undo_approval),
    form_route(f"{PROGRAM}/commissions/{{commission_id}}", partners.COMMISSION),
    *list_routes(f"{PROGRAM}/payouts", payout_pages.PAYABLE_LIST, POST=payout_pages.DRAFT.press),
    *list_routes(f"{PROGRAM}/payouts/runs", payout_pages.RUN_LIST),
    *list_routes(f"{PROGRAM}/payouts/payments", payout_pages.PAYMENT_LIST),
    *list_routes(f"{PROGRAM}/payouts/{{payout_id}}", payout_pages.RUN_LINES, POST=payout_pages.RUN_FORMS.press)[::-1],
    *list_routes(f"{PROGRAM}/review", commissions.FLAG_LIST),
    page(f"{PROGRAM}/review/selected", POST=commissions.DECIDE_FLAG.press_selected),
    page(f"{PROGRAM}/review/{{flag_id}}", POST=commissions.DECIDE_FLAG.press),
    *list_routes(f"{PROGRAM}/applications", portal.APPLICATION_LIST, POST=portal.DECIDE_APPLICATION.press),
    *list_routes(f"{PROGRAM}/sale-questions", portal.QUESTION_LIST),
    form_route(f"{PROGRAM}/sale-questions/{{question_id}}", portal.QUESTION),
    *list_routes(f"{PROGRAM}/events", records.EVENT_LIST),
    *list_routes(f"{PROGRAM}/refused-calls", records.REJECTED_CALL_LIST),
    page(f"{PROGRAM}/refused-calls/replay", POST=replays.REPLAY.press),
    *list_routes(f"{PROGRAM}/settings/audit-log", records.AUDIT_LIST),
    *list_routes(f"{PROGRAM}/settings/payments", payments.PAYMENT_LIST, POST=payments.ACCOUNT.press),
    page(f"{PROGRAM}/settings/payments/selected", POST=payments.DECIDE.press_selected),
    page(f"{PROGRAM}/settings/payments/{{event_id}}", POST=payments.DECIDE.press),
    form_route(f"{PROGRAM}/settings", programs.SETTINGS_PAGE),
    page(f"{PROGRAM}/settings/rates", GET=imports.RATES.show, POST=imports.import_rates),
    form_route(f"{PROGRAM}/settings/api-keys", replays.KEY_PAGE),
    form_route(f"{PROGRAM}/settings/sandbox", programs.SANDBOX_PAGE),
    page(f"{PROGRAM}/settings/checklist", GET=overview.show_checklist),
    page(f"{PROGRAM}/sample-page", GET=overview.show_sample_page),
    form_route(f"{PROGRAM}/settings/agent-caps", programs.CAPS_PAGE),
    form_route(f"{PROGRAM}/settings/workspace", members.WORKSPACE),
    page("/workspaces/{workspace_id}/logo/{version}", GET=members.show_logo),
    form_route(f"{PROGRAM}/settings/members", members.PAGE),
    Route("/static/{version}/{name:path}", assets.page_asset, include_in_schema=False),
]
