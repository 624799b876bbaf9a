"""The home page at `/`: what this server does, with links to the guides and the sign-in page."""

from starlette.requests import Request
from starlette.responses import Response

from storage.access import workspaces
from storage.rules.errors import Forbidden
from tracking_api.dashboard import authentication
from tracking_api.dashboard.authentication import storage_of
from tracking_api.dashboard.pages import notices, templates


async def show_home(request: Request) -> Response:
    """Show the home page, or how to set up an empty server; redirect a signed-in visitor to their programs."""
    try:
        await authentication.visitor(request)
    except Forbidden:
        if not await storage_of(request).read(workspaces.exist):
            return templates.render(request, "set_up_needed.html")
        return templates.render(request, "home.html", base_url=request.app.state.settings.base_url)
    return notices.redirect("/programs")
