"""GET and PATCH /api/workspaces/:id, PUT and DELETE /api/workspaces/:id/logo: what members see of a workspace."""

from typing import Annotated

from pydantic import AfterValidator, Base64Bytes

from presentation.actions import action
from presentation.changes import Changes
from presentation.operations import operation
from presentation.settings_models import Name
from presentation.view import View, with_fields_of
from storage.access import images, workspace_settings
from storage.access.workspace_settings import WorkspaceSettings
from storage.rules.errors import PayloadTooLarge
from storage.rules.periods import time_zones
from tracking_api.dashboard.roles import WorkspaceRequest
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
async def get_workspace(call: WorkspaceRequest) -> ModelResponse[WorkspaceSettingsView]:
    """Return a workspace's settings."""
    return _shown(await call.read(workspace_settings.get_settings))


@action("Change a workspace's name or time zone", notice="workspace-saved")
async def change_workspace(call: WorkspaceRequest, sent: WorkspaceChange) -> ModelResponse[WorkspaceSettingsView]:
    """Change the settings that are sent."""
    return _shown(await call.write(workspace_settings.change, **sent.sent()))


@action("Replace a workspace's logo", PayloadTooLarge)
async def replace_logo(call: WorkspaceRequest, sent: NewLogo) -> ModelResponse[WorkspaceSettingsView]:
    """Save an image as the logo. Raises ValidationError."""
    return _shown(await call.write(workspace_settings.set_logo, images.accept(sent.image, field="image")))


@action("Remove a workspace's logo")
async def remove_logo(call: WorkspaceRequest) -> ModelResponse[WorkspaceSettingsView]:
    """Remove the logo."""
    return _shown(await call.write(workspace_settings.set_logo, None))


def _shown(settings: WorkspaceSettings) -> ModelResponse[WorkspaceSettingsView]:
    return ModelResponse(WorkspaceSettingsView.of(settings))
