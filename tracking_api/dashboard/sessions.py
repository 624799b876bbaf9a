"""POST /api/auth/login and /logout, GET /api/auth/me, and the queue in which hashes of passwords take turns."""

from asyncio import Semaphore
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime
from functools import partial
from typing import Annotated, Any, Self, TypeVar

import anyio.to_thread
from pydantic import StringConstraints
from starlette.requests import Request

from presentation.operations import ANYONE, operation
from presentation.view import View
from storage.access import accounts, passwords, second_factors, sessions
from storage.access.sessions import Account, Started, Visitor
from storage.access.workspaces import Role
from storage.rules import errors, keys
from tracking_api.dashboard import authentication, mail
from tracking_api.dashboard.authentication import VisitorRequest, storage_of, time_of
from web.body import Body, Identifier
from web.limits import network_of

RUNNING = 2
LONGEST_OF_CLIENT = 16
LONGEST_QUEUE = 64  # a hash takes 0.04 s of a core, and three times as long on a busy one
Result = TypeVar("Result")
Password = Annotated[str, StringConstraints(min_length=1, max_length=passwords.LONGEST)]


class Credentials(Body):
    """An account's e-mail address and password; `totp` is a code of its second factor, or a recovery code."""

    email: Identifier
    password: Password
    totp: Annotated[str, StringConstraints(max_length=64)] | None = None


class UserView(View):
    """The account that is signed in."""

    id: int
    email: str


class WorkspaceView(View):
    """A workspace, and the account's role in it."""

    id: int
    name: str
    role: Role


class SessionView(View):
    """The signed-in account, its workspaces, and the end of the session."""

    expires_at: datetime
    user: UserView
    workspaces: list[WorkspaceView]

    @classmethod
    def of(cls, row: Visitor, **others: Any) -> Self:
        workspaces = [WorkspaceView(id=each.workspace_id, name=each.name, role=each.role) for each in row.memberships]
        user = UserView(id=row.user_id, email=row.email)
        return cls(expires_at=row.expires_at, user=user, workspaces=workspaces, **others)


class NewSessionView(SessionView):
    """A session; only this response shows `token`."""

    token: str


@operation(errors.InvalidCredentials, errors.SecondFactorRequired, errors.InvalidSecondFactor, errors.RateLimited)
async def log_in(request: Request, sent: Credentials) -> NewSessionView:
    """Sign in with an e-mail address and a password."""
    account = await require_account(request, sent)
    return await new_session(request, await start(request, account, sent.totp))


async def new_session(request: Request, started: Started) -> NewSessionView:
    """Return a new session with its token."""
    signed_in = await storage_of(request).read(sessions.identify, keys.digest(started.token), at=time_of(request))
    return NewSessionView.of(signed_in, token=started.token)


@operation(security=({"session": ()}, ANYONE))
async def log_out(request: Request) -> None:
    """End the presented session, if there is one."""
    token_hash = authentication.presented(request)
    if token_hash is not None:
        await storage_of(request).write(sessions.end, sessions.by_token(token_hash))


@operation()
async def get_session(call: VisitorRequest) -> SessionView:
    """Return the signed-in account."""
    return SessionView.of(call.visitor)


async def require_account(request: Request, credentials: Credentials) -> Account:
    """Return the account whose password this is; an old hash is renewed. Raises RateLimited, InvalidCredentials."""
    limits, client = request.app.state.limits, network_of(request)
    email = credentials.email.strip().lower()
    device = authentication.known_device(request, email)
    if device is None:
        await limits.check("sign_in", client)
    await limits.hit("login", device or client, email)
    account = await storage_of(request).read(sessions.account, email)
    if device is None:
        await _require_no_pause(request, account, email)
    is_right = partial(passwords.matches, account and account.password_hash, credentials.password)  # None: as slow
    if not await hashed(request, is_right, is_known=device is not None) or account is None:
        await limits.hit("sign_in", client)
        raise errors.InvalidCredentials
    if passwords.is_outdated(account.password_hash):
        renewed = await hashed(request, partial(passwords.protect, credentials.password))
        if not await storage_of(request).write(accounts.renew_hash, account, renewed):
            return await require_account(request, credentials)  # another sign-in was faster
        account = account._replace(password_hash=renewed)
    return account


async def _require_no_pause(request: Request, account: Account | None, email: str) -> None:
    """Count a password as wrong until it proves right. Raises RateLimited in a pause, save with a second factor."""
    limits = request.app.state.limits
    try:
        await limits.check("wrong", email)  # what is rejected meanwhile makes no pause longer
        await limits.hit("wrong", email)
    except errors.RateLimited:
        if account is None:
            raise
        with suppress(errors.RateLimited):
            await limits.hit("alert", email)
            mail.later(mail.send_alert(request, email, "many-wrong"))  # its time does not say that there is an account
        if not await storage_of(request).read(second_factors.is_on, account.user_id):
            raise


async def start(request: Request, account: Account, code: str | None) -> Started:
    """Start a session with the code of a second factor. Raises RateLimited, and what `storage.access.sign_in` does."""
    limits, user_id = request.app.state.limits, str(account.user_id)
    if code:
        await limits.hit("second_factor", user_id)
    about: dict[str, Any] = {"client": request.headers.get("user-agent"), "at": time_of(request)}
    sealer = request.app.state.settings.sealer()
    started = await storage_of(request).write(second_factors.sign_in, account, code=code, sealer=sealer, **about)
    await limits.forget("second_factor", user_id)
    source = authentication.known_device(request, account.email) or network_of(request)
    await limits.forget("login", source, account.email)
    await limits.forget("wrong", account.email)
    return started


async def require_password(call: VisitorRequest, password: str) -> None:
    """Raise ValidationError if this is not the account's password, RateLimited after too many wrong ones."""
    stored = await call.storage.read(accounts.find_hash, call.visitor.email)
    limits = call.request.app.state.limits
    user_id = str(call.visitor.user_id)
    await limits.hit("password", user_id)
    if not await hashed(call.request, partial(passwords.matches, stored, password), is_known=True):
        raise errors.ValidationError.of("current_password", "This is not the account's password")
    await limits.forget("password", user_id)


class PasswordQueue:
    """Hashes passwords on threads, each with 19 MiB: a few at a time, and no more of a client are in line.

    Overloaded is raised beyond the bounds: a client that floods the queue delays itself, not the others.
    """

    def __init__(self) -> None:
        self._threads = anyio.CapacityLimiter(RUNNING)  # first come, first served
        self.of_known = anyio.CapacityLimiter(1)
        self._places: dict[str, Semaphore] = {}  # by client
        self._entered: Counter[str] = Counter()  # by client: what runs or waits

    async def run(self, client: str, work: Callable[[], Result]) -> Result:
        """Return what the work returns. Raises Overloaded if too much waits, of this client or in all."""
        if self._entered[client] >= RUNNING + LONGEST_OF_CLIENT or self._entered.total() >= RUNNING + LONGEST_QUEUE:
            raise errors.Overloaded(retry_after_seconds=1)
        self._entered[client] += 1
        try:
            async with self._places.setdefault(client, Semaphore(RUNNING)):
                return await anyio.to_thread.run_sync(work, limiter=self._threads)
        finally:
            self._entered[client] -= 1
            if not self._entered[client]:
                del self._entered[client], self._places[client]


async def hashed(request: Request, work: Callable[[], Result], *, is_known: bool = False) -> Result:
    """Return the result of work with a hash; known devices do not wait for strangers. Raises Overloaded."""
    queue: PasswordQueue = request.app.state.passwords
    if is_known:
        return await anyio.to_thread.run_sync(work, limiter=queue.of_known)
    return await queue.run(network_of(request), work)


async def hash_of_new(request: Request, password: str, *, email: str) -> str:
    """Return the hash of an account's new password. Raises ValidationError if it is weak, Overloaded."""
    return await hashed(request, partial(passwords.protect_new, password, email=email, field="new_password"))
