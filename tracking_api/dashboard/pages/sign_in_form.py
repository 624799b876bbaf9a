"""The form of the sign-in page, with where to go afterwards: a page, or a form that waits to be sent."""

from typing import NamedTuple

from starlette.requests import Request
from starlette.responses import Response

from storage.rules.errors import ServiceError
from tracking_api.dashboard.pages import templates
from web.errors import STATUS, error_headers


class Afterwards(NamedTuple):
    """Where signing in leads: the page `next_path`, or the form that `held` seals."""

    next_path: str = ""
    held: str = ""


def show_form(
    request: Request,
    afterwards: Afterwards,
    *,
    email: str = "",
    proof: str = "",
    rejection: ServiceError | None = None,
) -> Response:
    """Return the sign-in page, with what was wrong the last time."""
    status = STATUS[rejection.code] if rejection else 200
    shown = {"afterwards": afterwards, "email": email, "proof": proof, "rejection": rejection}
    response = templates.render(request, "sign_in.html", status=status, **shown)
    response.headers.update(error_headers(rejection) if rejection else {})
    return response
