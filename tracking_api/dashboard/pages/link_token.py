"""One-time links: their token is in the fragment, which browsers send to no server, and so to no log of a proxy.

The page of a link posts it, and gets it back in a cookie for this page alone until it is used.
"""

from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from storage.rules.errors import LinkExpired, ServiceError
from tracking_api.dashboard import authentication
from tracking_api.dashboard.pages import notices, templates
from tracking_api.dashboard.pages.forms import Form
from web.limits import network_of

COOKIE = "svc_link"
SECONDS = 15 * 60


async def of(request: Request, form: Form | None = None) -> str:
    """Return the token of the visitor's link. Raises LinkExpired without one, RateLimited."""
    await request.app.state.limits.hit("reset", network_of(request))
    token = (form.text("token") if form else "") or request.cookies.get(COOKIE, "")
    if not token:
        raise LinkExpired("This page opens with a link.")
    return token


def show_open(request: Request, rejection: ServiceError) -> Response:
    """Return the page that posts the fragment; a visitor without scripts pastes the link's code.

    It shows why the visitor's earlier link does not work, if there is one.
    """
    earlier = COOKIE in request.cookies
    shown = {"rejection": rejection if earlier else None}
    response: Response = templates.render(request, "open_link.html", status=404 if earlier else 200, **shown)
    return without(request, response)


def is_alone(form: Form) -> bool:
    """Return whether a form has nothing but the token: the one that the page's script posts."""
    return form.fields.keys() == {"token"}


def keep(request: Request, form: Form) -> Response:
    """Return the way back to the page, with the posted token in its cookie."""
    response = notices.redirect(request.url.path)
    response.set_cookie(COOKIE, form.text("token"), max_age=SECONDS, **_about(request))
    return response


def without(request: Request, response: Response) -> Response:
    """Return the response, which ends the cookie."""
    if COOKIE in request.cookies:
        response.delete_cookie(COOKIE, **_about(request))
    return response


def _about(request: Request) -> dict[str, Any]:
    secure = authentication.is_https(request)
    return {"path": request.url.path, "httponly": True, "samesite": "strict", "secure": secure}
