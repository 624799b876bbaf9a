"""Who asks in the portal: one partner of one program. The portal's cookie is its own, for its own path alone."""

from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from presentation.api_request import ApiRequest
from storage.access import portal, sessions
from storage.access.workspaces import ANYONE, Role
from storage.engine.audit import Actor
from storage.lists.declaration import ListScope
from storage.rules.errors import Forbidden, ServiceError
from tracking_api.dashboard import authentication
from tracking_api.dashboard.pages import notices, templates
from tracking_api.dashboard.pages.page import page
from tracking_api.portal.texts import texts_for
from web.errors import STATUS, error_headers

SIGN_IN = f"{authentication.PORTAL}/sign-in"


@dataclass(frozen=True, kw_only=True)
class PortalRequest(ApiRequest):
    """A request of a partner who is signed in to the portal of a program."""

    partner: Any  # the row of `portal.identify`

    def path_name(self, name: str) -> str:
        """Return what the form has under a name; the partner is the one who is signed in, whatever a form says."""
        return str(self.partner.partner_id) if name == "partner_id" else super().path_name(name)

    @property
    def currency(self) -> str:
        return str(self.partner.currency)

    @property
    def scope(self) -> ListScope:
        """What the lists are of: this partner alone."""
        return ListScope(self.program_id, self.at, partner_id=self.partner.partner_id)

    @property
    def shown(self) -> dict[str, Any]:
        """What every page of the portal is rendered from."""
        return {"partner": self.partner, "say": texts_for(self.request)}


async def as_partner(request: Request, _: Collection[Role] = ANYONE) -> PortalRequest:
    """Return the request of a signed-in partner. Raises Forbidden."""
    token, storage, at = session_token(request), authentication.storage_of(request), authentication.time_of(request)
    partner = await storage.read(portal.identify, token, at=at)
    if at - partner.used_at >= sessions.USED_EVERY:
        with suppress(ServiceError):  # where the database takes no writes, they read on
            await storage.write_in(partner.program_id, sessions.use, portal.session_by(token), at=at)
    actor = Actor("partner", str(partner.partner_id), partner.name, may_pay=False)
    about: dict[str, Any] = {"actor": actor, "program_id": partner.program_id, "partner": partner}
    return PortalRequest(request=request, storage=storage, at=at, **about)


def session_token(request: Request) -> str:
    """Return the token of the portal's cookie, empty without one or if another site may have sent the request."""
    return request.cookies.get(authentication.cookie_name(request), "") if authentication.is_our_own(request) else ""


def draw(request: Request, template: str, **values: Any) -> Response:
    """Return a page of the portal for a visitor who is not signed in."""
    shown: dict[str, Any] = {"partner": None, "say": texts_for(request), "problems": {}, "typed": {}}
    return templates.render(request, template, **shown | values)


async def _forbidden(_request: Request, _: Forbidden) -> Response:
    """Lead to the sign-in page, also with a form of another session."""
    return notices.redirect(SIGN_IN)


async def _rejected(request: Request, rejection: ServiceError) -> Response:
    """Return the page that shows an error."""
    request.scope["error_code"] = rejection.code
    status = STATUS[rejection.code]
    response = draw(request, "portal/templates/rejected.html", status=status, rejection=rejection)
    response.headers.update(error_headers(rejection))
    return response


portal_page = partial(page, forbidden=_forbidden, rejection=_rejected)
