"""The home page at `/`: what this server does, with links to the guides and the sign-in page."""

from starlette.requests import Request
from starlette.responses import Response

from storage.rules.errors import Forbidden
from tracking_api.dashboard import authentication
from tracking_api.dashboard.pages import templates
from tracking_api.dashboard.pages.page import redirect


async def show_home(request: Request) -> Response:
    """Show the home page; redirect a signed-in visitor to their programs."""
    try:
        await authentication.visitor(request)
    except Forbidden:
        return templates.render(request, "home.html", base_url=request.app.state.settings.base_url)
    return redirect("/programs")
