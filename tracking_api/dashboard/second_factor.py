"""/api/auth/second-factor: enrol, confirm and disable the account's second factor."""

from typing import Annotated

from pydantic import StringConstraints

from presentation.operations import operation
from presentation.view import SuccessView, View
from storage.access import second_factors
from storage.access.second_factors import Enrolment
from storage.engine.sealing import Sealer
from storage.rules.errors import InvalidSecondFactor, Overloaded, RateLimited, SecondFactorExists
from tracking_api.dashboard.account import Password, require_password
from tracking_api.dashboard.roles import VisitorRequest
from tracking_api.dashboard.sessions import NO_STORE
from web.body import Body
from web.response import ModelResponse

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


class EnrolmentView(View):
    """A secret for an authenticator app, shown once; the second factor is on once a code of it is confirmed."""

    secret: str
    uri: str


class RecoveryCodesView(View):
    """Codes that each sign in once without the app; only this response shows them."""

    recovery_codes: list[str]


@operation("Whether the account has a second factor")
async def get_second_factor(call: VisitorRequest) -> ModelResponse[SecondFactorView]:
    """Return whether the account has a second factor."""
    on = await call.storage.read(second_factors.is_on, call.visitor.user_id)
    return ModelResponse(SecondFactorView(is_on=on), NO_STORE)


@operation("Start a second factor (TOTP)", SecondFactorExists, RateLimited, Overloaded, body=SecondFactorStart)
async def enrol_second_factor(call: VisitorRequest) -> ModelResponse[EnrolmentView]:
    """Return a secret for the app. Raises ValidationError, SecondFactorExists, RateLimited."""
    enrolled = await enrol(call, (await call.parse(SecondFactorStart)).current_password)
    return ModelResponse(EnrolmentView.of(enrolled), NO_STORE)


@operation(
    "Turn the second factor on with a code of the app",
    *(InvalidSecondFactor, SecondFactorExists, RateLimited),
    body=SecondFactorCode,
)
async def confirm_second_factor(call: VisitorRequest) -> ModelResponse[RecoveryCodesView]:
    """Return the recovery codes. Raises InvalidSecondFactor, SecondFactorExists, RateLimited."""
    codes = await confirm(call, (await call.parse(SecondFactorCode)).totp)
    return ModelResponse(RecoveryCodesView(recovery_codes=codes), NO_STORE)


@operation("Turn the second factor off", InvalidSecondFactor, RateLimited, Overloaded, body=SecondFactorEnd)
async def disable_second_factor(call: VisitorRequest) -> ModelResponse[SuccessView]:
    """Turn it off. Raises ValidationError for a wrong password, InvalidSecondFactor, RateLimited."""
    sent = await call.parse(SecondFactorEnd)
    await disable(call, password=sent.current_password, code=sent.totp)
    return ModelResponse(SuccessView(success=True))


async def enrol(call: VisitorRequest, password: str) -> Enrolment:
    """Start a second factor. Raises ValidationError, SecondFactorExists, RateLimited."""
    await require_password(call, password)
    about = {"email": call.visitor.email, "sealer": _sealer(call)}
    enrolled: Enrolment = await call.storage.write(second_factors.enrol, call.visitor.user_id, **about)
    return enrolled


async def confirm(call: VisitorRequest, code: str) -> list[str]:
    """Turn the second factor on; return the recovery codes. Raises InvalidSecondFactor, RateLimited."""
    about = {"sealer": _sealer(call), "actor": call.actor, "at": call.at}
    await _hit(call)
    codes: list[str] = await call.storage.write(second_factors.confirm, call.visitor.user_id, code, **about)
    return codes


async def disable(call: VisitorRequest, *, password: str | None, code: str) -> None:
    """Turn the second factor off with the password or a code. Raises ValidationError, InvalidSecondFactor."""
    user_id = call.visitor.user_id
    if password is not None:
        await require_password(call, password)
    else:
        await _hit(call)
        await call.storage.write(second_factors.spend, user_id, code, sealer=_sealer(call), at=call.at)
    await call.storage.write(second_factors.disable, user_id, actor=call.actor, at=call.at)


async def _hit(call: VisitorRequest) -> None:
    await call.request.app.state.limits.hit("second_factor", str(call.visitor.user_id))


def _sealer(call: VisitorRequest) -> Sealer:
    sealer: Sealer = call.request.app.state.settings.sealer()
    return sealer
