"""The checks before the SDK of every call to /mcp: the method, the headers, the key, its rate, the body's size."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from configuration import Configuration
from mcp_server.caller import SCOPE_MEMBER, Caller
from mcp_server.tool_calls import ToolCalls
from storage import Reader
from storage.rules import keys
from storage.rules.errors import InsufficientScope, InvalidKey, MethodNotAllowed, ServiceError, WrongKeyType
from storage.rules.scope import READING
from web import body, client
from web.limits import RateLimits, client_of
from web.response import error_response

CALL = "mcp call"
METADATA = "/.well-known/oauth-protected-resource/mcp"  # RFC 9728, 3.1


@dataclass(frozen=True, kw_only=True)
class McpMiddleware:
    """Pure ASGI: accepts a POST with a key, and holds the response until a read has proved that key."""

    app: ASGIApp
    calls: ToolCalls
    reader: Reader
    settings: Configuration
    limits: RateLimits
    clock: Callable[[], datetime]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["method"] != "POST":
            await error_response(MethodNotAllowed(), scope, {"Allow": "POST"})(scope, receive, send)
            return
        host = dict(scope["headers"]).get(b"host", b"").decode("latin-1")
        scope["headers"] = [_tidied(name, value.strip(b" \t"), scope) for name, value in scope["headers"]]
        headers = scope["header_fields"] = dict(scope["headers"])
        sent = (headers.get(name, b"").decode("latin-1") for name in (b"authorization", b"x-agent-key"))
        credential, resource = client.agent_credential(*sent), self.settings.mcp_url
        caller = Caller(self.reader, credential, self.clock(), scope["request_id"], resource=resource)
        scope[SCOPE_MEMBER] = caller
        try:
            async with self.limits.guessing(client_of(scope), caller.credential) as is_known:
                if not is_known:
                    await caller.prove()  # nothing is read or remembered for a key that somebody invents
                response = await self._serve(caller, scope, receive)
            for message in response:
                await send(message)
        except ServiceError as error:
            challenge = _challenge(error, caller, self.settings, host=host)
            await error_response(error, scope, challenge)(scope, receive, send)

    async def _serve(self, caller: Caller, scope: Scope, receive: Receive) -> list[Message]:
        """Return the response of a caller whose credential works, or has worked and is proved with the call."""
        await self.limits.hit(CALL, keys.digest(caller.credential or ""))
        content = bytes(await body.read_body(scope, receive, seconds=self.settings.body_seconds))
        response: list[Message] = []

        async def hold(message: Message) -> None:
            response.append(message)

        handle = await self.calls.respond(scope, content) or self.app
        await handle(scope, body.replay(content, receive), hold)
        await caller.prove()
        return response


def _challenge(error: ServiceError, caller: Caller, settings: Configuration, *, host: str) -> dict[str, str]:
    """Return the challenge for an error; none for an error that no other credential would change.

    `host` is the Host header as the client sent it.

    Only a client that sent nothing or an access token learns where to sign in. A client with a wrong key must fix the
    key: some clients drop a header that their user configured as soon as they hear of an authorization server.
    """
    if not isinstance(error, InvalidKey | WrongKeyType | InsufficientScope):
        return {}
    parameters: dict[str, str] = {}
    if settings.assistants_sign_in and isinstance(error, InsufficientScope):
        scopes = [*error.details["granted_scopes"], error.details["required_scope"]]
        parameters = {"error": "insufficient_scope", "scope": " ".join(scopes)}
    elif settings.assistants_sign_in and caller.signed_in:
        parameters = {"error": "invalid_token", "scope": " ".join(READING)}
    elif settings.assistants_sign_in and caller.credential is None:
        parameters = {"scope": " ".join(READING)}
    if parameters:
        parameters["resource_metadata"] = f"{client.called(settings.base_url, host)}{METADATA}"
    quoted = ", ".join(f'{name}="{value}"' for name, value in parameters.items())
    return {"WWW-Authenticate": f"Bearer {quoted}".strip()}


def _tidied(name: bytes, value: bytes, scope: Scope) -> tuple[bytes, bytes]:
    """Return a header in the form that the SDK compares; a Host that is this socket's IP address counts as localhost.

    A page that rebinds a domain to this machine sends the domain as Host; an IP address was typed by the client's user.
    """
    host, port = scope.get("server") or ("", 0)
    served = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    return (name, b"localhost") if name == b"host" and value.decode("latin-1") == served else (name, value)
