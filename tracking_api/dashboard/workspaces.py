"""GET and PATCH /api/workspaces/:id, PUT and DELETE /api/workspaces/:id/logo: what members see of a workspace."""

from typing import Annotated

from pydantic import AfterValidator, Base64Bytes

from presentation.changes import Changes
from presentation.operations import operation
from presentation.settings_models import Name
from presentation.view import View, with_fields_of
from storage.access import images, workspace_settings
from storage.access.workspace_settings import WorkspaceSettings
from storage.rules.errors import OwnerRequired, PayloadTooLarge
from storage.rules.periods import time_zones
from tracking_api.dashboard.invitations import owned
from tracking_api.dashboard.roles import VisitorRequest
from web.body import Body
from web.response import ModelResponse


@with_fields_of(WorkspaceSettings)
class WorkspaceSettingsView(View):
    """A workspace's name, the time zone of the times on its pages, and the version of its logo, if it has one."""


class WorkspaceChange(Changes):
    """The settings of a workspace to change; `time_zone` is UTC or Region/City."""

    name: Name = ""
    time_zone: Annotated[str, AfterValidator(time_zones.known)] = time_zones.UTC


class NewLogo(Body):
    """A PNG, JPEG or WebP image in base64; the request has at most 64 KB."""

    image: Base64Bytes


@operation("A workspace's name, time zone and logo")
async def get_workspace(call: VisitorRequest) -> ModelResponse[WorkspaceSettingsView]:
    """Return a workspace's settings. Raises Forbidden."""
    workspace_id = call.path_id("workspace_id")
    call.visitor.require_workspace(workspace_id)
    return _shown(await call.storage.read(workspace_settings.get_settings, workspace_id))


@operation("Change a workspace's name or time zone", OwnerRequired, body=WorkspaceChange)
async def change_workspace(call: VisitorRequest) -> ModelResponse[WorkspaceSettingsView]:
    """Change the settings that are sent. Raises Forbidden, OwnerRequired."""
    workspace_id, sent = owned(call), (await call.parse(WorkspaceChange)).sent()
    about = {"actor": call.actor, "at": call.at}
    return _shown(await call.storage.write(workspace_settings.change, workspace_id, **sent, **about))


@operation("Replace a workspace's logo", OwnerRequired, PayloadTooLarge, body=NewLogo)
async def replace_logo(call: VisitorRequest) -> ModelResponse[WorkspaceSettingsView]:
    """Save an image as the logo. Raises Forbidden, OwnerRequired, ValidationError."""
    workspace_id = owned(call)
    logo = images.accept((await call.parse(NewLogo)).image, field="image")
    about = {"actor": call.actor, "at": call.at}
    return _shown(await call.storage.write(workspace_settings.set_logo, workspace_id, logo, **about))


@operation("Remove a workspace's logo", OwnerRequired)
async def remove_logo(call: VisitorRequest) -> ModelResponse[WorkspaceSettingsView]:
    """Remove the logo. Raises Forbidden, OwnerRequired."""
    about = {"actor": call.actor, "at": call.at}
    return _shown(await call.storage.write(workspace_settings.set_logo, owned(call), None, **about))


def _shown(settings: WorkspaceSettings) -> ModelResponse[WorkspaceSettingsView]:
    return ModelResponse(WorkspaceSettingsView.of(settings))
