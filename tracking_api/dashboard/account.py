"""The signed-in account: /api/auth/password, /api/auth/sessions and /api/auth/preferences, and its page."""

from typing import Annotated, Any

from pydantic import StringConstraints
from starlette.responses import Response

from presentation.changes import Changes
from presentation.operations import operation
from presentation.settings_models import Name
from storage.access import accounts, second_factors, sessions
from storage.access.sessions import OpenSession, Preferences, Theme, TimeFormat
from storage.rules.errors import NotFound, Overloaded, RateLimited
from tracking_api.dashboard import authentication, mail, second_factor
from tracking_api.dashboard.authentication import VisitorRequest
from tracking_api.dashboard.mail import Alert
from tracking_api.dashboard.pages.buttons import SIGNED_IN, Button, FormOutcome, FormPage
from tracking_api.dashboard.password_queue import hash_of_new
from tracking_api.dashboard.sessions import Password, require_password
from web.body import Body

LONGEST_NAME = 160
PASSWORD_CHANGED = Alert(
    "The password of your account was changed",
    "If it was not you, ask for a new one on the sign-in page.",
)
THEMES = {Theme.SYSTEM: "As the device says", Theme.LIGHT: "Light", Theme.DARK: "Dark"}
TIME_FORMATS = {TimeFormat.HOURS_24: "24 hours: 14:03", TimeFormat.HOURS_12: "12 hours: 2:03 PM"}


class PasswordChange(Body):
    """The account's password, and the one that replaces it.

    Whoever knew the old one may have connected assistants: they are disconnected unless `keep_assistants` is true.
    """

    current_password: Password
    new_password: Password
    keep_assistants: bool = False


class PreferencesChange(Changes):
    """The preferences to change; a `name` of null removes it."""

    name: Annotated[Name, StringConstraints(max_length=LONGEST_NAME)] | None = None
    theme: Theme = Theme.SYSTEM
    time_format: TimeFormat = TimeFormat.HOURS_24


@operation(RateLimited, Overloaded, notice="password-changed")
async def change_password(call: VisitorRequest, sent: PasswordChange) -> None:
    """Change the account's password, and end its other sessions and its assistants.

    Raises ValidationError for a wrong old or a weak new one.
    """
    await require_password(call, sent.current_password)
    user_id, email = call.visitor.user_id, call.visitor.email
    new_hash = await hash_of_new(call.request, sent.new_password, email=email)
    current = authentication.presented(call.request)
    about: dict[str, Any] = {"but": current, "keeps_assistants": sent.keep_assistants, "actor": call.actor}
    await call.storage.write(accounts.set_password, user_id, new_hash, **about, at=call.at)
    await mail.send_alert(call.request, email, PASSWORD_CHANGED)


@operation()
async def list_sessions(call: VisitorRequest) -> list[OpenSession]:
    """List the account's open sessions, the newest first."""
    return await _open_sessions(call)


async def _open_sessions(call: VisitorRequest) -> list[OpenSession]:
    current = authentication.presented(call.request) or ""
    return await call.storage.read(sessions.list_open, call.visitor.user_id, token_hash=current, at=call.at)


@operation(NotFound, notice="sessions-ended")
async def end_session(call: VisitorRequest) -> None:
    """End one of the account's sessions."""
    await call.storage.write(sessions.end_one, call.visitor.user_id, call.path_name("session_id"))


@operation(notice="sessions-ended")
async def end_other_sessions(call: VisitorRequest) -> None:
    """End all of the account's sessions except the one that asks."""
    current = authentication.presented(call.request)
    await call.storage.write(sessions.end_all, call.visitor.user_id, but=current)


@operation()
async def get_preferences(call: VisitorRequest) -> Preferences:
    """Return the account's name, theme and time format."""
    return call.visitor.preferences


@operation(notice="preferences-saved")
async def change_preferences(call: VisitorRequest, sent: PreferencesChange) -> Preferences:
    """Change the account's name, theme or time format."""
    chosen = call.visitor.preferences._replace(**sent.sent())
    await call.storage.write(accounts.change_preferences, call.visitor.user_id, chosen)
    return chosen


async def _page(call: VisitorRequest, outcome: FormOutcome) -> Response:
    return outcome.page(
        call,
        "your_account.html",
        themes=THEMES.items(),
        time_formats=TIME_FORMATS.items(),
        sessions=await _open_sessions(call),
        has_second_factor=await call.storage.read(second_factors.is_on, call.visitor.user_id),
    )


BUTTONS = {
    "preferences": Button(change_preferences),
    "password": Button(change_password),
    "end": Button(end_session),
    "end-others": Button(end_other_sessions),
    "enrol": Button(second_factor.enrol_second_factor),
    "confirm": Button(second_factor.confirm_second_factor),
    "disable": Button(second_factor.disable_second_factor),
}
PAGE = FormPage(_page, BUTTONS, who=SIGNED_IN)
