"""GET and PATCH /api/auth/preferences: the account's name, theme and time format."""

from typing import Annotated

from pydantic import StringConstraints

from presentation.changes import Changes
from presentation.operations import operation
from presentation.settings_models import Name
from presentation.view import View, with_fields_of
from storage.access import preferences
from storage.access.preferences import Preferences, Theme, TimeFormat
from tracking_api.dashboard.roles import VisitorRequest
from web.response import ModelResponse

LONGEST_NAME = 160


@with_fields_of(Preferences)
class PreferencesView(View):
    """How a person sees the dashboard; other members see `name` beside the e-mail address."""


class PreferencesChange(Changes):
    """The preferences to change; a `name` of null removes it."""

    name: Annotated[Name, StringConstraints(max_length=LONGEST_NAME)] | None = None
    theme: Theme = Theme.SYSTEM
    time_format: TimeFormat = TimeFormat.HOURS_24


@operation("The account's name, theme and time format")
async def get_preferences(call: VisitorRequest) -> ModelResponse[PreferencesView]:
    """Return the preferences."""
    return ModelResponse(PreferencesView.of(call.visitor.preferences))


@operation("Change the account's name, theme or time format", body=PreferencesChange)
async def change_preferences(call: VisitorRequest) -> ModelResponse[PreferencesView]:
    """Change the preferences that are sent."""
    chosen = call.visitor.preferences._replace(**(await call.parse(PreferencesChange)).sent())
    await call.storage.write(preferences.change, call.visitor.user_id, chosen)
    return ModelResponse(PreferencesView.of(chosen))
