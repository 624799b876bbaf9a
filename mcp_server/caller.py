"""The caller: a key or an access token, proved by the same read that serves the call."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any, TypeVar

from mcp import MCPError
from mcp.server import ServerRequestContext
from mcp_types import INVALID_REQUEST

from storage import Reader
from storage.access import agent_keys, assistants
from storage.access.agent_keys import AgentKey
from storage.access.assistants import Assistant
from storage.engine import read_queue
from storage.rules import errors, keys
from storage.rules.scope import Scope

Value = TypeVar("Value")
Key = AgentKey | Assistant
SCOPE_MEMBER = "svc.caller"
Context = ServerRequestContext[Any, Any]


@dataclass(repr=False)  # it would show the credential
class Caller:
    """The credential of one request. It holds a Reader, so that nothing here can write.

    `proven`: a read has confirmed the credential. `rejection`: the error for the whole request: 401
    for a credential that does not work, 403 for an access token without the scope (RFC 6750, 3.1), 503 where
    storage is not available.
    """

    reader: Reader
    credential: str | None
    at: datetime
    request_id: str
    resource: str
    proven: bool = False
    rejection: errors.ServiceError | None = None

    @property
    def signed_in(self) -> bool:
        """Whether the credential is an access token."""
        return self.credential is not None and self.credential.startswith(keys.ACCESS_PREFIX)

    async def read(
        self, operation: Callable[[Any, Key], Value], *, scope: Scope | None = None, program_id: int | None = None
    ) -> Value:
        """Run `operation(connection, key)` in the same read that proves the key: one hop, one snapshot.

        With a read replica, the primary proves the key first, and the operation runs on the replica.

        Raises MCPError with a `rejection`; InsufficientScope or ProgramNotAllowed for a key; what the operation raises.
        """
        granted: tuple[Scope, ...] = ()

        def prove(connection: Any) -> Key:
            nonlocal granted
            of_assistant = partial(assistants.authorize, resource=self.resource)
            authorize: Any = of_assistant if self.signed_in else agent_keys.authorize
            about = {"scope": scope, "program_id": program_id, "at": self.at}
            try:
                key: Key = authorize(connection, self.credential, **about)
            except (errors.InsufficientScope, errors.ProgramNotAllowed):
                self.proven = True
                raise
            self.proven, granted = True, key.scopes
            return key

        try:
            if self.reader.replica:
                return await self.reader.report(operation, await self.reader.read(prove))
            return await self.reader.read(lambda connection: operation(connection, prove(connection)))
        except errors.InsufficientScope as error:
            if not self.signed_in:
                raise
            error.details.setdefault("granted_scopes", granted)
            self.rejection = error
        except (errors.InvalidKey, errors.WrongKeyType, errors.Overloaded, errors.StorageUnavailable) as error:
            self.rejection = error
        raise MCPError(INVALID_REQUEST, self.rejection.text)

    def as_of(self, connection: Any) -> datetime:
        """Return the time of the data that a connection reads."""
        newest = read_queue.newest(connection) if self.reader.replica else None
        return min(self.at, newest) if newest else self.at

    async def prove(self) -> None:
        """Prove the credential unless a read has done so. Raises the rejection, also an earlier one."""
        if not self.proven and self.rejection is None:
            with suppress(MCPError):  # the rejection says it
                await self.read(lambda _connection, _key: None)
        if self.rejection is not None:
            raise self.rejection


def caller_of(context: Context) -> Caller:
    """Return the caller that the middleware stored in the request's scope."""
    assert context.request is not None  # noqa: S101 - over HTTP there is one
    caller: Caller = context.request.scope[SCOPE_MEMBER]
    return caller
