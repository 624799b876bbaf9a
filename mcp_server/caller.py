"""Who calls: a key that the read which serves the call proves, at the latest before anything is answered."""

from collections.abc import Callable
from datetime import datetime
from typing import Any, TypeVar

from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_REQUEST

from storage import Reader, agent_keys
from storage.agent_keys import AgentKey
from storage.rules.errors import InsufficientScope, InvalidKey, ProgramNotAllowed, Refusal, WrongKeyType
from storage.rules.scope import Scope

Found = TypeVar("Found")
SCOPE_MEMBER = "svc.caller"
Context = ServerRequestContext[Any, Any]


class Refused(MCPError):  # noqa: N818 - a refusal is an answer, not a fault
    """The key does not work: whatever was asked, the gate answers 401 with `refusal`."""

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(INVALID_REQUEST, refusal.text)
        self.refusal = refusal


class Caller:
    """A presented credential in a request at a moment; over a Reader, so that nothing here can write."""

    def __init__(self, reader: Reader, credential: str | None, at: datetime, request_id: str) -> None:
        self.at = at
        self.request_id = request_id
        self.proven = False
        self._reader = reader
        self._credential = credential

    async def read(
        self,
        operation: Callable[[Any, AgentKey], Found],
        *,
        scope: Scope | None = None,
        program_id: int | None = None,
    ) -> Found:
        """Run `operation(connection, key)` in the same read that proves the key: one hop, one snapshot.

        Raises Refused for a key that does not work; InsufficientScope, ProgramNotAllowed, what the operation raises.
        """

        def serve(connection: Any) -> Found:
            try:
                key = agent_keys.authorize(connection, self._credential, scope=scope, program_id=program_id, at=self.at)
            except (InsufficientScope, ProgramNotAllowed):
                self.proven = True
                raise
            self.proven = True
            return operation(connection, key)

        try:
            return await self._reader.read(serve)
        except (InvalidKey, WrongKeyType) as refusal:
            raise Refused(refusal) from None

    async def prove(self) -> None:
        """Prove the key where no read has done so yet. Raises Refused."""
        if not self.proven:
            await self.read(lambda _connection, _key: None)


def caller_of(context: Context) -> Caller:
    """Return who calls, as the gate left it in the request's scope."""
    assert context.request is not None  # noqa: S101 - over HTTP there is one
    caller: Caller = context.request.scope[SCOPE_MEMBER]
    return caller
