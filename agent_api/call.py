"""What every agent call goes through: the key, then its scope, then its program; only then the handler."""

import re
from collections.abc import Awaitable, Callable
from contextlib import suppress
from datetime import datetime
from typing import NamedTuple

from starlette.requests import Request

from storage import Storage
from storage.access import agent_keys
from storage.access.agent_keys import AgentKey
from storage.rules.errors import NotFound, Overloaded
from storage.rules.scope import Scope
from web import credentials
from web.response import JsonResponse

NO_PROGRAM = 0  # an id that no program has: refused like any other that the key does not reach
_DIGITS = re.compile(r"[0-9]{1,18}")


class AgentRequest(NamedTuple):
    """A call that its key allows; `program_id` is the path's, NO_PROGRAM where the path names none."""

    request: Request
    key: AgentKey
    program_id: int
    storage: Storage
    at: datetime

    def named(self, name: str) -> int:
        """Return an id from the path. Raises NotFound when it can be nobody's."""
        text = self.request.path_params[name]
        if not _DIGITS.fullmatch(text):
            raise NotFound
        return int(text)


Handler = Callable[[AgentRequest], Awaitable[JsonResponse]]


class Allowed:
    """A handler with the scope that its callers need (None: any key will do)."""

    def __init__(self, scope: Scope | None, handler: Handler) -> None:
        self.scope = scope
        self._handler = handler

    async def __call__(self, request: Request) -> JsonResponse:
        """Serve one request. Raises InvalidKey, WrongKeyType, InsufficientScope, ProgramNotAllowed, in this order."""
        state = request.app.state
        storage: Storage = state.storage
        at: datetime = state.clock()
        program_id = _program(request)
        key = await storage.read(
            agent_keys.authorize,
            credentials.agent_credential(request.headers.get("authorization"), request.headers.get("x-agent-key")),
            scope=self.scope,
            program_id=program_id,
            at=at,
        )
        if key.use_is_due(at):
            with suppress(Overloaded):  # a key that is used goes on being used: the next call records it
                await storage.write(agent_keys.touch, key.id, at=at)
        return await self._handler(AgentRequest(request, key, program_id or NO_PROGRAM, storage, at))


def _program(request: Request) -> int | None:
    text = request.path_params.get("program_id")
    if text is None:
        return None
    return int(text) if _DIGITS.fullmatch(text) else NO_PROGRAM
