"""A workspace's name, time zone and logo: GET and PATCH /api/workspaces/:id, PUT and DELETE .../logo, and the page."""

from typing import Annotated

from pydantic import AfterValidator, Base64Bytes
from starlette.requests import Request
from starlette.responses import Response

from presentation.changes import Changes
from presentation.operations import operation
from presentation.settings_models import Name
from storage.access import members
from storage.access.members import WorkspaceSettings
from storage.rules.errors import PayloadTooLarge
from storage.rules.periods import time_zones
from tracking_api.dashboard.authentication import WorkspaceRequest, of_workspace
from tracking_api.dashboard.pages.buttons import Button, FormOutcome, FormPage
from tracking_api.dashboard.pages.page_context import PageContext
from web.body import Body

LARGEST_UPLOAD = 1024 * 1024  # the error of a larger one does not stand beside the field
LOGO_HEADERS = {
    "Cache-Control": "private, max-age=31536000, immutable",  # its URL changes with the logo
    "Content-Security-Policy": "default-src 'none'; sandbox",
    "Content-Disposition": "inline",
    "Cross-Origin-Resource-Policy": "same-origin",
}


class WorkspaceChange(Changes):
    """The settings of a workspace to change; `time_zone` is UTC or Region/City."""

    name: Name = ""
    time_zone: Annotated[str, AfterValidator(time_zones.known)] = time_zones.UTC


class NewLogo(Body):
    """A PNG, JPEG or WebP image in base64; the request has at most 64 KB."""

    image: Base64Bytes


@operation()
async def get_workspace(call: WorkspaceRequest) -> WorkspaceSettings:
    """Return a workspace's name, time zone and logo."""
    return await call.read(members.get_settings)


@operation(notice="workspace-saved")
async def change_workspace(call: WorkspaceRequest, sent: WorkspaceChange) -> WorkspaceSettings:
    """Change a workspace's name or time zone."""
    return await call.write(members.change_settings, **sent.sent())


@operation(PayloadTooLarge, notice="logo-saved")
async def replace_logo(call: WorkspaceRequest, sent: NewLogo) -> WorkspaceSettings:
    """Replace a workspace's logo."""
    return await call.write(members.set_logo, sent.image)


@operation(notice="logo-removed")
async def remove_logo(call: WorkspaceRequest) -> WorkspaceSettings:
    """Remove a workspace's logo."""
    return await call.write(members.set_logo, None)


async def show_logo(request: Request) -> Response:
    """Serve the logo to a member, as nothing but an image. Raises NotFound, Forbidden."""
    logo = await (await of_workspace(request)).read(members.get_logo)
    request.scope["extra_headers"] = ()
    return Response(logo.content, headers=LOGO_HEADERS, media_type=logo.media_type)


async def _page(context: PageContext, outcome: FormOutcome) -> Response:
    workspace = context.visitor.workspace
    return outcome.page(
        context,
        "workspace.html",
        stored={"name": workspace.name, "time_zone": workspace.time_zone},
        zones=time_zones.names(),
        accepted=",".join(members.MEDIA_TYPES),
        largest_kb=members.LARGEST_LOGO // 1024,
    )


PAGE = FormPage(_page, Button(change_workspace), subject=PageContext.of_workspace)
THERE = "/programs/{program_id}/settings/workspace"
LOGO_FORM = FormPage(
    _page,
    {"": Button(replace_logo, then=THERE), "remove": Button(remove_logo, then=THERE)},
    subject=PageContext.of_workspace,
    largest_file=LARGEST_UPLOAD,
)
