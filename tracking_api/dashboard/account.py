"""The signed-in account: /api/auth/password, /sessions, /preferences and /second-factor, and its page."""

from typing import Annotated, Any

from pydantic import StringConstraints

from presentation.changes import Changes
from presentation.operations import operation
from presentation.settings_models import Name
from presentation.view import View
from storage.access import accounts, second_factors, sessions
from storage.rules.errors import InvalidSecondFactor, NotFound, Overloaded, RateLimited, SecondFactorExists
from tracking_api.dashboard import mail
from tracking_api.dashboard.authentication import VisitorRequest, presented, visitor_request
from tracking_api.dashboard.pages.buttons import Button, FormOutcome, FormPage, drawn
from tracking_api.dashboard.sessions import Password, hash_of_new, require_password
from web.body import Body

LONGEST_NAME = 160
Code = Annotated[str, StringConstraints(min_length=1, max_length=64)]


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
    theme: sessions.Theme = "system"
    time_format: sessions.TimeFormat = "24"


@operation(RateLimited, Overloaded, notice="password-changed")
async def change_password(call: VisitorRequest, sent: PasswordChange) -> None:
    """Change the account's password, and end its other sessions and its assistants."""
    await require_password(call, sent.current_password)
    new_hash = await hash_of_new(call.request, sent.new_password, email=call.visitor.email)
    kept = {"but": presented(call.request), "keeps_assistants": sent.keep_assistants}
    await call.write(accounts.set_password, new_hash, **kept)
    await mail.send_alert(call.request, call.visitor.email, "password-changed")


@operation()
async def list_sessions(call: VisitorRequest) -> list[sessions.OpenSession]:
    """List the account's open sessions, the newest first."""
    read, user_id = call.storage.read, call.visitor.user_id
    return await read(sessions.list_open, sessions.of_user(user_id), presented(call.request), at=call.at)


@operation(NotFound, notice="sessions-ended")
async def end_session(call: VisitorRequest) -> None:
    """End one of the account's sessions."""
    await call.storage.write(sessions.end_one, sessions.of_user(call.visitor.user_id), call.path_name("session_id"))


@operation(notice="sessions-ended")
async def end_other_sessions(call: VisitorRequest) -> None:
    """End all of the account's sessions except the one that asks."""
    await call.storage.write(sessions.end_all, call.visitor.user_id, but=presented(call.request))


@operation()
async def get_preferences(call: VisitorRequest) -> sessions.Preferences:
    """Return the account's name, theme and time format."""
    return call.visitor.preferences


@operation(notice="preferences-saved")
async def change_preferences(call: VisitorRequest, sent: PreferencesChange) -> sessions.Preferences:
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
    return SecondFactorView(is_on=await call.read(second_factors.is_on))


@operation(SecondFactorExists, RateLimited, Overloaded)
async def enrol_second_factor(call: VisitorRequest, sent: SecondFactorStart) -> second_factors.Enrolment:
    """Start a second factor (TOTP)."""
    await require_password(call, sent.current_password)
    who = call.visitor
    return await call.storage.write(second_factors.enrol, who.user_id, email=who.email, sealer=call.sealer)


@operation(InvalidSecondFactor, SecondFactorExists, RateLimited)
async def confirm_second_factor(call: VisitorRequest, sent: SecondFactorCode) -> RecoveryCodesView:
    """Turn the second factor on with a code of the app."""
    await call.hit("second_factor")
    return RecoveryCodesView(recovery_codes=await call.write(second_factors.confirm, sent.totp, sealer=call.sealer))


@operation(InvalidSecondFactor, RateLimited, Overloaded, notice="second-factor-off")
async def disable_second_factor(call: VisitorRequest, sent: SecondFactorEnd) -> None:
    """Turn the second factor off, with the password or a code."""
    if sent.current_password is not None:
        await require_password(call, sent.current_password)
        await call.write(second_factors.disable)
    else:
        await call.hit("second_factor")
        await call.write(second_factors.switch_off, sent.totp, sealer=call.sealer)
    await mail.send_alert(call.request, call.visitor.email, "second-factor-off")


async def _page(call: VisitorRequest, _: FormOutcome) -> dict[str, Any]:
    return {"sessions": await list_sessions.perform(call), "has_second_factor": await call.read(second_factors.is_on)}


BUTTONS = {
    "preferences": Button(change_preferences),
    "password": Button(change_password),
    "end": Button(end_session),
    "end-others": Button(end_other_sessions),
    "enrol": Button(enrol_second_factor),
    "confirm": Button(confirm_second_factor),
    "disable": Button(disable_second_factor),
}
PAGE = FormPage(drawn("your_account.html", _page), BUTTONS, viewer=visitor_request)
