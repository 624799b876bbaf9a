"""Settings, Workspace: its name, its time zone and its logo, and the URL that serves the logo."""

from functools import partial

from starlette.requests import Request
from starlette.responses import Response

from presentation.api_request import path_id
from storage.access import images, workspace_settings
from storage.access.images import Image
from storage.rules.errors import PayloadTooLarge, ValidationError
from storage.rules.periods import time_zones
from tracking_api.dashboard import authentication, workspaces
from tracking_api.dashboard.authentication import storage_of
from tracking_api.dashboard.pages import buttons, notices, page_context, templates, uploads
from tracking_api.dashboard.pages.buttons import Button, FormOutcome
from tracking_api.dashboard.pages.forms import Problems
from tracking_api.dashboard.pages.page import redirect
from tracking_api.dashboard.pages.page_context import PageContext

LOGO = "logo"
CHANGE = Button(workspaces.change_workspace)
LOGO_HEADERS = {
    "Cache-Control": "private, max-age=31536000, immutable",  # its URL changes with the logo
    "Content-Security-Policy": "default-src 'none'; sandbox",
    "Content-Disposition": "inline",
    "Cross-Origin-Resource-Policy": "same-origin",
}


async def show_workspace(request: Request) -> Response:
    """Show the workspace's settings; owners may change them."""
    return await _page(await page_context.as_member(request), FormOutcome())


async def change_workspace(request: Request) -> Response:
    """Save the name and the time zone; an error appears beside its field."""
    context = await page_context.as_owner(request)
    return await buttons.press(CHANGE, context.of_workspace, partial(_page, context), context=context)


async def change_logo(request: Request) -> Response:
    """Save the chosen image as the logo, or remove the logo; an error appears beside the field."""
    context = await page_context.as_owner(request)
    try:
        form, content = await uploads.read_upload(request, LOGO, largest=images.LARGEST)
        logo = None if form.text("action") == "remove" else images.accept(content, field=LOGO)
    except PayloadTooLarge:
        return await _page(context, FormOutcome(Problems({LOGO: images.TOO_LARGE})))
    except ValidationError as rejection:
        return await _page(context, FormOutcome(Problems.of(rejection)))
    await context.of_workspace.write(workspace_settings.set_logo, logo)
    done = "logo-saved" if logo else "logo-removed"
    return notices.leave(redirect(f"{context.program_path}/settings/workspace"), done)


async def show_logo(request: Request) -> Response:
    """Serve the logo to a member, as nothing but an image. Raises NotFound, Forbidden."""
    visitor = await authentication.visitor(request)
    workspace_id = path_id(request, "workspace_id")
    visitor.require_workspace(workspace_id)
    logo: Image = await storage_of(request).read(workspace_settings.get_logo, workspace_id)
    request.scope["extra_headers"] = ()
    return Response(logo.content, headers=LOGO_HEADERS, media_type=logo.media_type)


async def _page(context: PageContext, outcome: FormOutcome) -> Response:
    workspace = context.member.workspace
    return templates.render(
        context.request,
        "workspace.html",
        context=context,
        zones=time_zones.names(),
        accepted=",".join(images.MEDIA_TYPES),
        largest_kb=images.LARGEST // 1024,
        **outcome.shown({"name": workspace.name, "time_zone": workspace.time_zone}),
    )
