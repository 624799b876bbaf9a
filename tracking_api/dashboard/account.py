"""The signed-in account: /api/auth/password, /sessions, /preferences and /second-factor, and its page."""

from typing import Annotated, Any

from pydantic import StringConstraints
from starlette.responses import Response

from presentation.changes import Changes
from presentation.operations import operation
from presentation.settings_models import Name
from presentation.view import View
from storage.access import accounts, second_factors, sessions
from storage.access.second_factors import Enrolment
from storage.access.sessions import OpenSession, Preferences, Theme, TimeFormat
from storage.rules.errors import InvalidSecondFactor, NotFound, Overloaded, RateLimited, SecondFactorExists
from tracking_api.dashboard import authentication, mail
from tracking_api.dashboard.authentication import VisitorRequest, visitor_request
from tracking_api.dashboard.mail import Alert
from tracking_api.dashboard.pages.buttons import Button, FormOutcome, FormPage
from tracking_api.dashboard.password_queue import hash_of_new
from tracking_api.dashboard.sessions import Password, require_password
from web.body import Body

LONGEST_NAME = 160
PASSWORD_CHANGED = Alert(
    "The password of your account was changed", "If it was not you, ask for a new one on the sign-in page."
)
TURNED_OFF = Alert(
    "The second factor of your account was turned off",
    "Your password alone signs in now. If it was not you, change the password at once.",
)
Code = Annotated[str, StringConstraints(min_length=1, max_length=64)]
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
    """Change the account's password, and end its other sessions and its assistants."""
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
    await call.storage.write(accounts.change, call.visitor.user_id, **chosen._asdict())
    return chosen


class SecondFactorStart(Body):
    """The account's password."""

    current_password: Password


class SecondFactorCode(Body):
    """A code of the authenticator app."""

    totp: Code


class SecondFactorEnd(Body):
    """The account's password, or else a code of the app or a recovery code."""

    current_password: Password | None = None
    totp: Code = ""


class SecondFactorView(View):
    """Whether the account needs a code to sign in."""

    is_on: bool


class RecoveryCodesView(View):
    """Codes that each sign in once without the app; only this response shows them."""

    recovery_codes: list[str]


@operation()
async def get_second_factor(call: VisitorRequest) -> SecondFactorView:
    """Return whether the account has a second factor."""
    return SecondFactorView(is_on=await call.storage.read(second_factors.is_on, call.visitor.user_id))


@operation(SecondFactorExists, RateLimited, Overloaded)
async def enrol_second_factor(call: VisitorRequest, sent: SecondFactorStart) -> Enrolment:
    """Start a second factor (TOTP)."""
    await require_password(call, sent.current_password)
    about: dict[str, Any] = {"email": call.visitor.email, "sealer": call.request.app.state.settings.sealer()}
    return await call.storage.write(second_factors.enrol, call.visitor.user_id, **about)


@operation(InvalidSecondFactor, SecondFactorExists, RateLimited)
async def confirm_second_factor(call: VisitorRequest, sent: SecondFactorCode) -> RecoveryCodesView:
    """Turn the second factor on with a code of the app."""
    await call.hit("second_factor")
    about = {"sealer": call.request.app.state.settings.sealer(), "actor": call.actor, "at": call.at}
    codes = await call.storage.write(second_factors.confirm, call.visitor.user_id, sent.totp, **about)
    return RecoveryCodesView(recovery_codes=codes)


@operation(InvalidSecondFactor, RateLimited, Overloaded, notice="second-factor-off")
async def disable_second_factor(call: VisitorRequest, sent: SecondFactorEnd) -> None:
    """Turn the second factor off, with the password or a code."""
    user_id = call.visitor.user_id
    about: dict[str, Any] = {"actor": call.actor, "at": call.at}
    if sent.current_password is not None:
        await require_password(call, sent.current_password)
        await call.storage.write(second_factors.disable, user_id, **about)
    else:
        await call.hit("second_factor")
        by_code = second_factors.disable_by_code
        await call.storage.write(by_code, user_id, sent.totp, sealer=call.request.app.state.settings.sealer(), **about)
    await mail.send_alert(call.request, call.visitor.email, TURNED_OFF)


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
    "enrol": Button(enrol_second_factor),
    "confirm": Button(confirm_second_factor),
    "disable": Button(disable_second_factor),
}
PAGE = FormPage(_page, BUTTONS, viewer=visitor_request)
