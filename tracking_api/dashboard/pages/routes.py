"""The pages' part of the route table."""

from starlette.routing import Route

from tracking_api.dashboard.pages import (
    assistants,
    audit_log,
    checklist,
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
    static,
)
from tracking_api.dashboard.pages.page import Page


def _page(path: str, page: Page) -> Route:
    return Route(path, page, methods=page.methods, include_in_schema=False)


PROGRAM = "/programs/{program_id}"
ROUTES = [
    _page("/", Page(GET=home.show)),
    _page("/sign-in", Page(GET=sign_in.show, POST=sign_in.enter)),
    _page("/sign-out", Page(POST=sign_in.leave)),
    _page("/device", Page(GET=device.enter)),
    _page("/device/{user_code}", Page(GET=device.show, POST=device.decide)),
    _page("/connect/{sealed}", Page(GET=consent.show, POST=consent.decide)),
    _page("/assistants", Page(GET=assistants.index)),
    _page("/assistants/{assistant_id}", Page(POST=assistants.disconnect)),
    _page("/programs", Page(GET=programs.index)),
    _page("/programs/new", Page(GET=programs.new, POST=programs.create)),
    _page(PROGRAM, Page(GET=overview.show)),
    _page(f"{PROGRAM}/partners", Page(GET=partners.index, POST=partners.add)),
    _page(f"{PROGRAM}/partners/{{partner_id}}", Page(POST=partners.change)),
    _page(f"{PROGRAM}/customers", Page(GET=customers.index)),
    _page(f"{PROGRAM}/customers/{{customer_id}}", Page(GET=customers.show)),
    _page(f"{PROGRAM}/commissions", Page(GET=commissions.index, POST=commissions.decide)),
    _page(f"{PROGRAM}/commissions.csv", Page(GET=commissions.export)),
    _page(f"{PROGRAM}/events", Page(GET=events.index)),
    _page(f"{PROGRAM}/refused-calls", Page(GET=refused_calls.index)),
    _page(f"{PROGRAM}/settings", Page(GET=settings.show, POST=settings.change)),
    _page(f"{PROGRAM}/settings/api-keys", Page(GET=program_key.show, POST=program_key.regenerate)),
    _page(f"{PROGRAM}/settings/checklist", Page(GET=checklist.show)),
    _page(f"{PROGRAM}/settings/payments", Page(GET=payments.show, POST=payments.change)),
    _page(f"{PROGRAM}/settings/payments/{{event_id}}", Page(POST=payments.decide)),
    _page(f"{PROGRAM}/settings/members", Page(GET=members.index)),
    _page(f"{PROGRAM}/settings/audit-log", Page(GET=audit_log.index)),
    Route("/static/{version}/{name:path}", static.endpoint, include_in_schema=False),
]
