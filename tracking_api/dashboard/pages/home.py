"""The page for a stranger at `/`: what this server is, where the guides and the sign-in are."""

from starlette.requests import Request
from starlette.responses import Response

from storage.rules.errors import Forbidden
from tracking_api.dashboard import authentication
from tracking_api.dashboard.pages import templates
from tracking_api.dashboard.pages.page import redirect


async def show_home(request: Request) -> Response:
    """Show a stranger around; lead who is signed in to their programs."""
    try:
        await authentication.visitor(request)
    except Forbidden:
        return templates.render(request, "home.html", base_url=request.app.state.settings.base_url)
    return redirect("/programs")
