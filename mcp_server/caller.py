"""Who calls: a key or an access token that the read which serves the call proves, before anything is answered."""

from collections.abc import Callable
from datetime import datetime
from typing import Any, TypeVar

from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_REQUEST

from storage import Reader
from storage.access import agent_keys, assistant_tokens
from storage.access.agent_keys import AgentKey
from storage.access.assistants import Assistant
from storage.rules import keys
from storage.rules.errors import InsufficientScope, InvalidKey, ProgramNotAllowed, ServiceError, WrongKeyType
from storage.rules.scope import Scope

Found = TypeVar("Found")
SCOPE_MEMBER = "svc.caller"
Context = ServerRequestContext[Any, Any]


class Refused(MCPError):  # noqa: N818 - a refusal is an answer, not a fault
    """Whatever was asked, the gate answers with `refusal`.

    401 for a credential that does not work; 403 for an access token whose scopes do not reach, so that the client can
    ask its user for more (RFC 6750, 3.1).
    """

    def __init__(self, refusal: ServiceError) -> None:
        super().__init__(INVALID_REQUEST, refusal.text)
        self.refusal = refusal


class Caller:
    """A presented credential in a request at a moment; over a Reader, so that nothing here can write."""

    def __init__(self, reader: Reader, credential: str | None, at: datetime, request_id: str, *, resource: str) -> None:
        self.at = at
        self.request_id = request_id
        self.proven = False
        self.signed_in = credential is not None and credential.startswith(keys.ACCESS_PREFIX)
        self.granted: tuple[Scope, ...] = ()
        self._reader = reader
        self.credential = credential
        self._resource = resource
        self._refused: Refused | None = None

    async def read(
        self,
        operation: Callable[[Any, AgentKey | Assistant], Found],
        *,
        scope: Scope | None = None,
        program_id: int | None = None,
    ) -> Found:
        """Run `operation(connection, key)` in the same read that proves the key: one hop, one snapshot.

        Raises Refused for a credential that does not work, or a token whose scopes do not reach; InsufficientScope for
        such a key, ProgramNotAllowed, what the operation raises.
        """

        def serve(connection: Any) -> Found:
            try:
                key = self._authorize(connection, scope=scope, program_id=program_id, at=self.at)
            except (InsufficientScope, ProgramNotAllowed):
                self.proven = True
                raise
            self.proven = True
            self.granted = key.scopes
            return operation(connection, key)

        try:
            return await self._reader.read(serve)
        except (InvalidKey, WrongKeyType) as refusal:
            raise self._refuse(refusal) from None
        except InsufficientScope as refusal:
            raise (self._refuse(refusal) if self.signed_in else refusal) from None

    async def prove(self) -> None:
        """Prove the credential where no read has done so yet. Raises Refused, also for what a read refused before."""
        if self._refused is not None:
            raise self._refused
        if not self.proven:
            await self.read(lambda _connection, _key: None)

    def _authorize(self, connection: Any, **about: Any) -> AgentKey | Assistant:
        if self.signed_in and self.credential is not None:
            return assistant_tokens.authorize(connection, self.credential, resource=self._resource, **about)
        return agent_keys.authorize(connection, self.credential, **about)

    def _refuse(self, refusal: ServiceError) -> Refused:
        if isinstance(refusal, InsufficientScope):
            refusal.details.setdefault("granted_scopes", self.granted)
        self.proven = False
        self._refused = Refused(refusal)
        return self._refused


def caller_of(context: Context) -> Caller:
    """Return who calls, as the gate left it in the request's scope."""
    assert context.request is not None  # noqa: S101 - over HTTP there is one
    caller: Caller = context.request.scope[SCOPE_MEMBER]
    return caller
