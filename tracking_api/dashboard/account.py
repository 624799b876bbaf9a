"""The signed-in account: POST /api/auth/password, GET and DELETE /api/auth/sessions."""

from datetime import datetime
from functools import partial
from typing import Annotated

from pydantic import StringConstraints

from presentation.operations import operation
from presentation.view import SuccessView, View
from storage.access import accounts, passwords, sessions
from storage.rules.errors import FieldError, NotFound, Overloaded, RateLimited, ValidationError
from tracking_api.dashboard import authentication
from tracking_api.dashboard.password_queue import hashed
from tracking_api.dashboard.roles import VisitorRequest
from tracking_api.dashboard.sessions import NO_STORE, verified
from web.body import Body
from web.response import ModelResponse

Password = Annotated[str, StringConstraints(min_length=1, max_length=passwords.LONGEST)]


class PasswordChange(Body):
    """The account's password, and the one that replaces it."""

    current_password: Password
    new_password: Password


class OpenSessionView(View):
    """A session that has not ended. `id` names it; `client` is what its browser or device calls itself."""

    id: str
    client: str | None
    created_at: datetime
    expires_at: datetime
    is_current: bool


class OpenSessionsView(View):
    """The account's sessions, the newest first."""

    data: list[OpenSessionView]


@operation("Change the account's password, and end its other sessions", RateLimited, Overloaded, body=PasswordChange)
async def change_password(call: VisitorRequest) -> ModelResponse[SuccessView]:
    """Change the password. Raises ValidationError for a wrong old or a weak new one, RateLimited."""
    await replace_password(call, await call.parse(PasswordChange))
    return ModelResponse(SuccessView(success=True))


async def replace_password(call: VisitorRequest, sent: PasswordChange) -> None:
    """Set the new password if the current one is right. Raises ValidationError, RateLimited."""
    user_id, email = call.visitor.user_id, call.visitor.email
    await require_password(call, sent.current_password)
    protect = partial(passwords.protect_new, sent.new_password, email=email, field="new_password")
    new_hash = await hashed(call.request, protect)
    current = authentication.presented(call.request)
    await call.storage.write(accounts.set_password, user_id, new_hash, but=current, actor=call.actor, at=call.at)


async def require_password(call: VisitorRequest, password: str, *, field: str = "current_password") -> None:
    """Raise ValidationError if this is not the account's password, RateLimited after too many wrong ones."""
    account = await call.storage.read(sessions.account, call.visitor.email)
    limits, user_id = call.request.app.state.limits, str(call.visitor.user_id)
    await limits.hit("password", user_id)
    if not await verified(call.request, account, password):
        raise ValidationError(fields=[FieldError(field, "This is not the account's password")])
    await limits.forget("password", user_id)


@operation("The account's open sessions")
async def list_sessions(call: VisitorRequest) -> ModelResponse[OpenSessionsView]:
    """List the account's sessions."""
    listed = await open_sessions(call)
    return ModelResponse(OpenSessionsView(data=[OpenSessionView.of(each) for each in listed]), NO_STORE)


async def open_sessions(call: VisitorRequest) -> list[sessions.OpenSession]:
    """Return the account's sessions, the newest first."""
    current = authentication.presented(call.request) or ""
    return await call.storage.read(sessions.list_open, call.visitor.user_id, token_hash=current, at=call.at)


@operation("End one of the account's sessions", NotFound)
async def end_session(call: VisitorRequest) -> ModelResponse[SuccessView]:
    """End a session. Raises NotFound."""
    await call.storage.write(sessions.end_one, call.visitor.user_id, call.request.path_params["session_id"])
    return ModelResponse(SuccessView(success=True))


@operation("End all of the account's sessions except the one that asks")
async def end_other_sessions(call: VisitorRequest) -> ModelResponse[SuccessView]:
    """End the other sessions."""
    current = authentication.presented(call.request)
    await call.storage.write(sessions.end_all, call.visitor.user_id, but=current)
    return ModelResponse(SuccessView(success=True))
