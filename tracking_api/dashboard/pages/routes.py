"""The pages' part of the route table."""

from starlette.routing import Route

from tracking_api import assets
from tracking_api.dashboard.pages import (
    assistants,
    audit_log,
    checklist,
    commission,
    commissions,
    consent,
    customers,
    device,
    events,
    home,
    members,
    overview,
    partners,
    payments,
    program_key,
    programs,
    refused_calls,
    settings,
    sign_in,
)
from tracking_api.dashboard.pages.page import Page


def _page(path: str, page: Page) -> Route:
    return Route(path, page, methods=page.methods, include_in_schema=False)


PROGRAM = "/programs/{program_id}"
ROUTES = [
    _page("/", Page(GET=home.show_home)),
    _page("/sign-in", Page(GET=sign_in.show_sign_in, POST=sign_in.enter)),
    _page("/sign-out", Page(POST=sign_in.leave)),
    _page("/device", Page(GET=device.enter_device_code)),
    _page("/device/{user_code}", Page(GET=device.show_device_login, POST=device.decide_device_login)),
    _page("/connect/{sealed}", Page(GET=consent.show_consent, POST=consent.decide_consent)),
    _page("/assistants", Page(GET=assistants.list_assistants)),
    _page("/assistants/{assistant_id}", Page(POST=assistants.disconnect_assistant)),
    _page("/programs", Page(GET=programs.list_programs)),
    _page("/programs/new", Page(GET=programs.show_new_program, POST=programs.create_program)),
    _page(PROGRAM, Page(GET=overview.show_overview)),
    _page(f"{PROGRAM}/partners", Page(GET=partners.list_partners, POST=partners.enrol_partner)),
    _page(f"{PROGRAM}/partners/{{partner_id}}", Page(POST=partners.change_partner)),
    _page(f"{PROGRAM}/customers", Page(GET=customers.list_customers)),
    _page(f"{PROGRAM}/customers/{{customer_id}}", Page(GET=customers.show_customer)),
    _page(f"{PROGRAM}/commissions", Page(GET=commissions.list_commissions, POST=commissions.decide_commissions)),
    _page(
        f"{PROGRAM}/commissions/{{commission_id}}",
        Page(GET=commission.show_commission, POST=commission.approve_on_hold),
    ),
    _page(f"{PROGRAM}/commissions.csv", Page(GET=commissions.export_commissions)),
    _page(f"{PROGRAM}/events", Page(GET=events.list_events)),
    _page(f"{PROGRAM}/refused-calls", Page(GET=refused_calls.list_refused_calls)),
    _page(f"{PROGRAM}/settings", Page(GET=settings.show_settings, POST=settings.change_settings)),
    _page(
        f"{PROGRAM}/settings/api-keys", Page(GET=program_key.show_program_key, POST=program_key.regenerate_program_key)
    ),
    _page(f"{PROGRAM}/settings/checklist", Page(GET=checklist.show_checklist)),
    _page(f"{PROGRAM}/settings/payments", Page(GET=payments.show_payments, POST=payments.change_payment_account)),
    _page(f"{PROGRAM}/settings/payments/{{event_id}}", Page(POST=payments.decide_payment_event)),
    _page(f"{PROGRAM}/settings/members", Page(GET=members.list_members)),
    _page(f"{PROGRAM}/settings/audit-log", Page(GET=audit_log.list_audit_log)),
    Route("/static/{version}/{name:path}", assets.page_asset, include_in_schema=False),
]
