"""POST /api/auth/login and /logout, GET /api/auth/me."""

import secrets
from functools import cache, partial
from typing import Annotated, Any

import anyio.to_thread
from pydantic import StringConstraints
from starlette.requests import Request

from storage.access import passwords, sessions
from storage.access.sessions import Account, Started, Visitor
from storage.rules import keys
from storage.rules.errors import InvalidCredentials
from tracking_api.dashboard import authentication
from tracking_api.dashboard.authentication import storage_of, time_of
from web import body
from web.body import Body, Identifier
from web.response import JsonResponse

NO_STORE = {"Cache-Control": "no-store"}
VERIFIERS = 2  # argon2 takes 64 MiB and a core for each


class Credentials(Body):
    """An account's e-mail address and password."""

    email: Identifier
    password: Annotated[str, StringConstraints(min_length=1, max_length=512)]


async def login(request: Request) -> JsonResponse:
    """Sign in: 200 with the session's token, 401 for a wrong address or password, 429 after many tries."""
    credentials = body.parse(Credentials, await body.read_body(request.scope, request.receive))
    started = await sign_in(request, credentials)
    signed_in = await storage_of(request).read(sessions.identify, keys.digest(started.token), at=time_of(request))
    return JsonResponse({"token": started.token, **shown(signed_in)}, headers=NO_STORE)


async def logout(request: Request) -> JsonResponse:
    """Sign out. A session that has ended already is no error."""
    token_hash = authentication.presented(request)
    if token_hash is not None:
        await storage_of(request).write(sessions.end, token_hash)
    return JsonResponse({"success": True})


async def me(request: Request) -> JsonResponse:
    """Say who is signed in."""
    return JsonResponse(shown(await authentication.visitor(request)), headers=NO_STORE)


async def sign_in(request: Request, credentials: Credentials) -> Started:
    """Return a new session for whom the credentials name. Raises RateLimited, InvalidCredentials."""
    limits, client = request.app.state.limits, request.client.host if request.client else "unknown"
    email = credentials.email.strip().lower()
    await limits.hit("login", client, email)
    account = await storage_of(request).read(sessions.account, email)
    if not await _verified(request, account, credentials.password) or account is None:
        raise InvalidCredentials
    await limits.forget("login", client, email)
    return await storage_of(request).write(sessions.start, account.user_id, at=time_of(request))


async def _verified(request: Request, account: Account | None, password: str) -> bool:
    """Say whether the password is the account's; for no account it takes just as long to say no."""
    state = request.app.state
    if not hasattr(state, "verifiers"):
        state.verifiers = anyio.CapacityLimiter(VERIFIERS)
    nobodys = await anyio.to_thread.run_sync(_nobodys_hash, limiter=state.verifiers)
    verify = partial(passwords.matches, account.password_hash if account else nobodys, password)
    return await anyio.to_thread.run_sync(verify, limiter=state.verifiers)


@cache
def _nobodys_hash() -> str:
    return passwords.protect(secrets.token_urlsafe(32))


def shown(signed_in: Visitor) -> dict[str, Any]:
    """Return who is signed in as JSON."""
    workspaces = [{"id": each.workspace_id, "name": each.name, "role": each.role} for each in signed_in.memberships]
    user = {"id": signed_in.user_id, "email": signed_in.email}
    return {"expires_at": signed_in.expires_at, "user": user, "workspaces": workspaces}
