"""What a credential reaches when it is presented, each kind in its ways; what that changes is rolled back."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import datetime
from functools import partial
from typing import Any

from sqlalchemy import Connection

from storage.access import accounts, agent_keys, assistants, device_logins, invitations, program_keys, sessions
from storage.engine.sealing import Sealer
from storage.lists.declaration import ListQuery, ListScope
from storage.lists.find import find
from storage.lists.programs import PROGRAMS
from storage.rules import keys
from storage.rules.errors import Forbidden, InsufficientScope, ProgramNotAllowed, ServiceError
from storage.rules.scope import Scope
from storage.tracking import program_terms
from tests.security.rights import Reach
from tests.storage.access.test_assistants import ASKED, RESOURCE

SCOPES = (Scope.PROGRAMS_READ, Scope.EVENTS_READ)
SEALER = Sealer("a secret key")
Programs = Sequence[int]


def session(connection: Connection, token: str, programs: Programs, at: datetime) -> Reach:
    visitor = sessions.identify(connection, keys.digest(token), at=at)
    reached = {("workspace", each.workspace_id, str(each.role)) for each in visitor.memberships}
    for program_id in programs:
        with suppress(Forbidden):
            member = sessions.identify(connection, keys.digest(token), program_id, at=at)
            reached.add(("program", program_id, str(member.role)))
    return reached


def device(connection: Connection, token: str, programs: Programs, at: datetime) -> Reach:
    polled = device_logins.poll(connection, token, at=at)
    return session(connection, polled.token, programs, at) if isinstance(polled, sessions.Started) else set()


def reset(connection: Connection, token: str, programs: Programs, at: datetime) -> Reach:
    email = accounts.reset_password(connection, token, "the password of the link", at=at)
    account = sessions.account(connection, email)
    started = sessions.start(connection, account.user_id, at=at) if account else None
    return session(connection, started.token, programs, at) if started else set()


def invitation(connection: Connection, token: str, programs: Programs, at: datetime) -> Reach:
    """Sign up with the password of the link; if the account exists, join as who is signed in."""
    offer = invitations.find(connection, token, at=at)
    try:
        started = invitations.sign_up(connection, token, password_hash="the link's", sealer=SEALER, at=at)
    except Forbidden:
        invitations.join(connection, token, user_id=offer.user_id or 0, at=at)
        return session(connection, sessions.start(connection, offer.user_id or 0, at=at).token, programs, at)
    return session(connection, started.token, programs, at) | (
        {("account", offer.user_id, "")} if offer.user_id else set()
    )


def program_key(connection: Connection, token: str, _: Programs, at: datetime) -> Reach:
    holder = program_terms.of_keys(connection, [keys.digest(token)]).get(keys.digest(token))
    known = {holder.program.id} if holder and holder.program else set()
    with suppress(ServiceError):
        known.add(program_keys.authenticate(connection, keys.digest(token), at=at).program_id)
    return {("program", each, "read") for each in known}


def agent_key(connection: Connection, token: str, programs: Programs, at: datetime) -> Reach:
    return _scoped(connection, programs, at, partial(agent_keys.authorize, connection, token))


def access(connection: Connection, token: str, programs: Programs, at: datetime) -> Reach:
    return _scoped(connection, programs, at, partial(assistants.authorize, connection, token, resource=RESOURCE))


def exchange(connection: Connection, token: str, programs: Programs, at: datetime) -> Reach:
    kind = assistants.CODE if token.startswith(keys.CODE_PREFIX) else assistants.REFRESH
    about: dict[str, Any] = {"client_id": ASKED.client_id, "scopes": SCOPES}
    tokens = assistants.exchange(connection, token, kind, **about, at=at)
    return access(connection, tokens.access, programs, at) if tokens else set()


def _scoped(connection: Connection, programs: Programs, at: datetime, authorize: Callable[..., Any]) -> Reach:
    reached: Reach = set()
    for scope in SCOPES:
        with suppress(InsufficientScope):
            key = authorize(scope=scope, program_id=None, at=at)
            reached.add(("workspace", key.workspace_id, str(scope)))
    listed = ListScope(0, at, None, [key.workspace_id], key.program_ids)
    reached |= {("program", each.id, "read") for each in find(connection, PROGRAMS, listed, ListQuery()).data}
    for program_id in programs:
        with suppress(ProgramNotAllowed):
            authorize(scope=SCOPES[0], program_id=program_id, at=at)
            reached.add(("program", program_id, "read"))
    return reached


ASK = {
    keys.SESSION_PREFIX: session,
    keys.RESET_PREFIX: reset,
    keys.INVITATION_PREFIX: invitation,
    keys.PROGRAM_PREFIX: program_key,
    keys.AGENT_PREFIX: agent_key,
    keys.ACCESS_PREFIX: access,
    keys.CODE_PREFIX: exchange,
    keys.REFRESH_PREFIX: exchange,
}


def ask(connection: Connection, token: str, programs: Programs, at: datetime) -> Reach:
    """Return what a credential reaches of these programs, and which workspaces."""
    presented = next((way for prefix, way in ASK.items() if token.startswith(prefix)), device)
    try:
        with connection.begin() as transaction:
            try:
                return presented(connection, token, programs, at)
            finally:
                transaction.rollback()
    except ServiceError:
        return set()
