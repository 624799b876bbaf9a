"""The portal as members see it: who is invited to it, who applies, what partners ask, and how they want to be paid."""

from datetime import timedelta
from typing import Any, Literal

from presentation.api_request import ApiRequest
from presentation.changes import Code
from presentation.operations import operation
from presentation.payouts import PayoutMethodChange
from presentation.view import View
from storage.access import portal as portal_access
from storage.access.workspaces import MANAGERS
from storage.diagnosis.explanation import explain
from storage.diagnosis.facts import Subject
from storage.lists.applications import APPLICATIONS, Application
from storage.lists.partners import PARTNERS
from storage.lists.programs import read_program
from storage.lists.sale_questions import SALE_QUESTIONS, SaleQuestion
from storage.management import applications, payout_methods, sale_questions
from storage.rules.attribution import ApplicationState
from storage.rules.errors import NotFound, PartnerNotFound, RateLimited, ValidationError
from tracking_api.dashboard import mail
from tracking_api.dashboard.pages.buttons import Button, FormOutcome, FormPage, drawn
from tracking_api.dashboard.pages.lists import ListPage
from tracking_api.dashboard.pages.page_context import PageContext
from tracking_api.portal import sign_in
from web.body import Body, Text
from web.response import CreatedResponse

STORED_WITHIN = timedelta(milliseconds=1)


class PortalInvitationView(View):
    """A link that signs a partner in to the portal once, within 7 days; `emailed` says whether they have got it."""

    link: str
    emailed: bool


@operation(NotFound, RateLimited)
async def invite_to_portal(call: ApiRequest) -> CreatedResponse[PortalInvitationView]:
    """Create a link that signs a partner in to the portal, by e-mail if the server sends it."""
    return CreatedResponse(await invite(call, call.path_id("partner_id")))


@operation(NotFound, RateLimited)
async def mail_invitation(call: ApiRequest) -> None:
    """Invite a partner to the portal by e-mail. Raises ValidationError if none could be sent."""
    if not mail.is_on(call.request):
        raise ValidationError("This server sends no e-mail.")
    if not (await invite(call, call.path_id("partner_id"))).emailed:
        raise ValidationError("The partner has no e-mail address, or the e-mail could not be sent.")


@operation(NotFound, notice="portal-revoked")
async def revoke_portal(call: ApiRequest) -> None:
    """End a partner's sessions in the portal, and links to it that they have not used."""
    await call.write(portal_access.revoke, call.path_id("partner_id"))


async def invite(call: ApiRequest, partner_id: int) -> PortalInvitationView:
    """Create a link for a partner and send it, if they have an address. Raises NotFound, RateLimited."""
    await call.hit("mail")
    token, partner = await call.write(portal_access.invite, partner_id)
    link = f"{call.base_url}{sign_in.LINK}#{token}"
    names = {"name": partner.name, "program": partner.program}
    emailed = bool(partner.email) and await sign_in.send(call.request, partner.email, "invited", link, **names)
    return PortalInvitationView(link=link, emailed=emailed)


class ApplicationDecision(Body):
    """Whether who applied becomes a partner, and with which code (by default made of their name)."""

    state: Literal[ApplicationState.APPROVED, ApplicationState.DECLINED]
    code: Code | None = None


@operation()
async def decide_application(call: ApiRequest, sent: ApplicationDecision) -> Application:
    """Approve an application, which enrols the partner and invites them by e-mail, or decline it."""
    decided = await call.write(applications.decide, call.path_id("application_id"), **dict(sent))
    if decided.partner_id is not None and mail.is_on(call.request):
        await invite(call, decided.partner_id)
    return decided


APPLICATION_LIST = ListPage(APPLICATIONS, "applications.html", constants={"code_of": applications.code_of})
DECIDE_APPLICATION = FormPage(
    APPLICATION_LIST.page,
    {
        "approve": Button(decide_application, {"state": ApplicationState.APPROVED}, "application-approved"),
        "decline": Button(decide_application, {"state": ApplicationState.DECLINED}, "application-declined"),
    },
    roles=MANAGERS,
)


class SaleAnswer(Body):
    """The answer to a partner's question about a missing sale, which they read in the portal."""

    text: Text


@operation(notice="sale-answered")
async def answer_sale_question(call: ApiRequest, sent: SaleAnswer) -> SaleQuestion:
    """Answer a partner's question about a missing sale."""
    return await call.write(sale_questions.answer, call.path_id("question_id"), text=sent.text)


async def _question(context: PageContext, _: FormOutcome) -> dict[str, Any]:
    """Show a question with what is known of the sale. Raises NotFound."""
    question = await context.get(SALE_QUESTIONS, "question_id")
    found = await context.report(explain, Subject(question.transaction_id), at=context.at)
    return {"question": question, "explanation": found}


QUESTION_LIST = ListPage(SALE_QUESTIONS, "sale_questions.html")
QUESTION = FormPage(
    drawn("sale_question.html", _question),
    Button(answer_sale_question, then="/programs/{program_id}/sale-questions/{question_id}"),
    roles=MANAGERS,
)


@operation(PartnerNotFound)
async def change_payout_method(call: ApiRequest, sent: PayoutMethodChange) -> payout_methods.PayoutMethod:
    """Change how a partner is paid; payouts by a new method wait for 7 days, or until an owner releases it."""
    about = (call.path_id("partner_id"), sent.kind, sent.details())
    method = await call.write(payout_methods.change, *about, sealer=call.sealer)
    if mail.is_on(call.request) and call.at - method.changed_at < STORED_WITHIN:
        partner = await call.get(PARTNERS, "partner_id")
        if partner.email is not None:
            program = (await call.read(read_program)).settings.name
            await mail.send(call.request, partner.email, "payout-method", program=program, method=method)
    return method
