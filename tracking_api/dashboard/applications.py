"""Applications to become a partner, as members read them and managers decide: who is approved, is invited."""

from typing import Literal

from presentation.api_request import ApiRequest
from presentation.changes import Code
from presentation.operations import operation
from storage.access.workspaces import MANAGERS
from storage.lists.applications import APPLICATIONS, Application
from storage.management import applications
from storage.rules.attribution import ApplicationState
from tracking_api.dashboard import mail, partner_portal
from tracking_api.dashboard.pages.buttons import Button, FormPage
from tracking_api.dashboard.pages.lists import ListPage
from web.body import Body


class ApplicationDecision(Body):
    """Whether who applied becomes a partner, and with which code (by default made of their name)."""

    state: Literal[ApplicationState.APPROVED, ApplicationState.DECLINED]
    code: Code | None = None


@operation()
async def decide_application(call: ApiRequest, sent: ApplicationDecision) -> Application:
    """Approve an application, which enrols the partner and invites them by e-mail, or decline it."""
    decided = await call.write(applications.decide, call.path_id("application_id"), **dict(sent))
    if decided.partner_id is not None and mail.is_on(call.request):
        await partner_portal.invite(call, decided.partner_id)
    return decided


APPLICATION_LIST = ListPage(APPLICATIONS, "applications.html", constants={"code_of": applications.code_of})
DECIDE = FormPage(
    APPLICATION_LIST.page,
    {
        "approve": Button(decide_application, {"state": ApplicationState.APPROVED}, "application-approved"),
        "decline": Button(decide_application, {"state": ApplicationState.DECLINED}, "application-declined"),
    },
    roles=MANAGERS,
)
