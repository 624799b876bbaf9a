"""Settings, Workspace: its name, its time zone and its logo, and the URL that serves the logo."""

from typing import Annotated

from pydantic import AfterValidator
from pydantic_core import to_json
from starlette.requests import Request
from starlette.responses import Response

from presentation.api_request import path_id
from presentation.settings_models import Name
from storage.access import images, workspace_settings
from storage.access.images import Image
from storage.rules.errors import PayloadTooLarge, ValidationError
from storage.rules.periods import time_zones
from tracking_api.dashboard import authentication
from tracking_api.dashboard.authentication import storage_of
from tracking_api.dashboard.pages import forms, notices, page_context, templates, uploads, values
from tracking_api.dashboard.pages.forms import Problems
from tracking_api.dashboard.pages.page import redirect
from tracking_api.dashboard.pages.page_context import PageContext
from web import body
from web.body import Body

LOGO = "logo"
LOGO_HEADERS = {
    "Cache-Control": "private, max-age=31536000, immutable",  # its URL changes with the logo
    "Content-Security-Policy": "default-src 'none'; sandbox",
    "Content-Disposition": "inline",
    "Cross-Origin-Resource-Policy": "same-origin",
}


class WorkspaceForm(Body):
    """The fields of the form."""

    name: Name
    time_zone: Annotated[str, AfterValidator(time_zones.known)]


async def show_workspace(request: Request) -> Response:
    """Show the workspace's settings; owners may change them."""
    return _page(request, await page_context.as_member(request))


async def change_workspace(request: Request) -> Response:
    """Save the name and the time zone; an error appears beside its field."""
    context = await page_context.as_owner(request)
    form = await forms.read_form(request)
    try:
        sent = body.parse(WorkspaceForm, to_json({"name": form.text("name"), "time_zone": form.text("time_zone")}))
    except ValidationError as rejection:
        return _page(request, context, Problems.of(rejection), values.typed(form))
    about = {"actor": context.member.actor, "at": context.at}
    await storage_of(request).write(
        workspace_settings.change, context.member.workspace_id, **sent.model_dump(), **about
    )
    return notices.leave(redirect(f"{context.program_path}/settings/workspace"), "workspace-saved")


async def change_logo(request: Request) -> Response:
    """Save the chosen image as the logo, or remove the logo; an error appears beside the field."""
    context = await page_context.as_owner(request)
    try:
        form, content = await uploads.read_upload(request, LOGO, largest=images.LARGEST)
        logo = None if form.text("action") == "remove" else images.accept(content, field=LOGO)
    except PayloadTooLarge:
        return _page(request, context, Problems({LOGO: images.TOO_LARGE}))
    except ValidationError as rejection:
        return _page(request, context, Problems.of(rejection))
    about = {"actor": context.member.actor, "at": context.at}
    await storage_of(request).write(workspace_settings.set_logo, context.member.workspace_id, logo, **about)
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


def _page(
    request: Request, context: PageContext, problems: Problems | None = None, typed: dict[str, str] | None = None
) -> Response:
    workspace = context.member.workspace
    return templates.render(
        request,
        "workspace.html",
        status=400 if problems else 200,
        context=context,
        typed=typed or {"name": workspace.name, "time_zone": workspace.time_zone},
        problems=problems or Problems(),
        zones=time_zones.names(),
        accepted=",".join(images.MEDIA_TYPES),
        largest_kb=images.LARGEST // 1024,
    )
