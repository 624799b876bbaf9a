"""What every call to /mcp goes through before the SDK: the method, the headers, the key, its rate, the body's size."""

from collections.abc import Callable
from datetime import datetime

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from mcp_server import challenge
from mcp_server.caller import SCOPE_MEMBER, Caller, Refused
from mcp_server.settings import McpSettings
from storage import Reader
from storage.rules import keys
from storage.rules.errors import MethodNotAllowed, RateLimited, ServiceError
from web import body, credentials
from web.limits import RateLimits
from web.response import JsonResponse, error_response

CALL = "mcp call"
SENT = "svc.sent"  # where the scope has the headers as they came
CONTENT = "svc.content"  # where the scope has the body that was read


class McpMiddleware:
    """Pure ASGI: lets a POST with a key through, and no answer out before a read has proved that key."""

    def __init__(self, app: ASGIApp, reader: Reader, settings: McpSettings, clock: Callable[[], datetime]) -> None:
        self._app = app
        self._reader = reader
        self._settings = settings
        self._clock = clock
        self._limits = RateLimits({CALL: settings.call_rate}, settings.redis_url)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        try:
            await self._serve(scope, receive, send)
        except ServiceError as refusal:
            await self._answer(refusal, scope)(scope, receive, send)

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["method"] != "POST":
            raise MethodNotAllowed
        scope[SENT] = scope["headers"]
        scope["headers"] = [_tidied(name, value.strip(b" \t"), scope) for name, value in scope["headers"]]
        headers = scope["header_fields"] = dict(scope["headers"])
        sent = (headers.get(name, b"").decode("latin-1") for name in (b"authorization", b"x-agent-key"))
        credential = credentials.agent_credential(*sent)
        about = (self._clock(), scope["request_id"])
        caller = scope[SCOPE_MEMBER] = Caller(self._reader, credential, *about, resource=self._settings.resource)
        if credential is None or not credential.startswith((keys.AGENT_PREFIX, keys.ACCESS_PREFIX)):
            await _prove(caller)  # it cannot; the refusal says which kind of key this is
        await self._count(credential or "")
        content = await body.read_body(scope, receive, seconds=self._settings.body_seconds)
        scope[CONTENT] = bytes(content)
        await self._app(scope, body.replay(scope[CONTENT], receive), self._proving(caller, scope, receive, send))

    def _proving(self, caller: Caller, scope: Scope, receive: Receive, send: Send) -> Send:
        """Let an answer out only for a proven caller; for any other, the refusal takes its place."""

        async def proved(message: Message) -> None:
            if message["type"] == "http.response.start" and not caller.proven:
                try:
                    await caller.prove()
                except Refused as unproven:
                    await self._answer(unproven.refusal, scope)(scope, receive, send)
            if caller.proven:
                await send(message)

        return proved

    def _answer(self, refusal: ServiceError, scope: Scope) -> JsonResponse:
        answer = error_response(refusal, scope["request_id"])
        if isinstance(refusal, MethodNotAllowed):
            answer.headers = {**answer.headers, "Allow": "POST"}
        else:
            host = dict(scope[SENT]).get(b"host", b"").decode("latin-1")
            challenged = challenge.headers(refusal, scope[SCOPE_MEMBER], self._settings, host=host)
            answer.headers = {**answer.headers, **challenged}
        return answer

    async def _count(self, credential: str) -> None:
        try:
            await self._limits.hit(CALL, keys.digest(credential))
        except RateLimited as limited:
            raise RateLimited("Too many calls with this key.", **limited.details) from None


def _tidied(name: bytes, value: bytes, scope: Scope) -> tuple[bytes, bytes]:
    """Return a header for the SDK; a Host that is the very address this socket has is as good as localhost.

    A page that rebinds a domain to this machine names the domain: an address in Host was typed by the client's user.
    """
    host, port = scope.get("server") or ("", 0)
    served = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    return (name, b"localhost") if name == b"host" and value.decode("latin-1") == served else (name, value)


async def _prove(caller: Caller) -> None:
    """Raise the refusal of a key that does not work, as the agent API words it."""
    try:
        await caller.prove()
    except Refused as unproven:
        raise unproven.refusal from None
