"""What managers do about partners' portal: invite partners to it, and end their sessions."""

from presentation.api_request import ApiRequest
from presentation.operations import operation
from presentation.view import View
from storage.access import portal
from storage.rules.errors import NotFound, RateLimited, ValidationError
from tracking_api.dashboard import mail
from tracking_api.portal.sign_in import LINK, send
from web.response import CreatedResponse


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
    await call.write(portal.revoke, call.path_id("partner_id"))


async def invite(call: ApiRequest, partner_id: int) -> PortalInvitationView:
    """Create a link for a partner and send it, if they have an address. Raises NotFound, RateLimited."""
    await call.hit("mail")
    token, partner = await call.write(portal.invite, partner_id)
    link = f"{call.base_url}{LINK}#{token}"
    names = {"name": partner.name, "program": partner.program}
    emailed = bool(partner.email) and await send(call.request, partner.email, "invited", link, **names)
    return PortalInvitationView(link=link, emailed=emailed)
