"""/api/auth/second-factor: enrol, confirm and disable the account's second factor."""

from typing import Annotated, Any

from pydantic import StringConstraints

from presentation.operations import operation
from presentation.view import View
from storage.access import second_factors
from storage.access.second_factors import Enrolment
from storage.rules.errors import InvalidSecondFactor, Overloaded, RateLimited, SecondFactorExists
from tracking_api.dashboard import mail
from tracking_api.dashboard.authentication import VisitorRequest
from tracking_api.dashboard.mail import Alert
from tracking_api.dashboard.sessions import Password, require_password
from web.body import Body

TURNED_OFF = Alert(
    "The second factor of your account was turned off",
    "Your password alone signs in now. If it was not you, change the password at once.",
)
Code = Annotated[str, StringConstraints(min_length=1, max_length=64)]


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
    await _hit(call)
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
        await _hit(call)
        by_code = second_factors.disable_by_code
        await call.storage.write(by_code, user_id, sent.totp, sealer=call.request.app.state.settings.sealer(), **about)
    await mail.send_alert(call.request, call.visitor.email, TURNED_OFF)


async def _hit(call: VisitorRequest) -> None:
    await call.request.app.state.limits.hit("second_factor", str(call.visitor.user_id))
