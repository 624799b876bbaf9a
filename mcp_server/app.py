"""The MCP app: POST /mcp for assistants, behind its checks. It gets a Reader, never a writer."""

from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, get_args
from urllib.parse import urlsplit

from mcp.server import CacheHint, Server
from mcp.server.caching import CacheableMethod
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from configuration import Configuration
from mcp_server import attachments
from mcp_server.calls import SCOPE_MEMBER, Caller, ToolCalls, caller_of
from mcp_server.tools import ALL
from mcp_server.tools.tool import Tool
from storage import Reader
from storage.rules import errors, keys
from storage.rules.scope import READING
from web import body, client
from web.app import now
from web.build import VERSION
from web.counts import Counts
from web.limits import REJECTED, RateLimits, client_of
from web.response import error_in_client_format, error_response

CALL = "mcp call"
METADATA = "/.well-known/oauth-protected-resource/mcp"  # RFC 9728, 3.1
LOCAL = ("localhost", "127.0.0.1", "[::1]")
FIVE_MINUTES = CacheHint(ttl_ms=5 * 60 * 1000, scope="private")

# Every assistant receives these first: terms, the order of calls, units. They are short on purpose.
INSTRUCTIONS = Path(__file__).with_name("instructions.md").read_text(encoding="utf-8")


@asynccontextmanager
async def serving(
    reader: Reader,
    settings: Configuration,
    *,
    counts: Counts | None = None,
    clock: Callable[[], datetime] = now,
    tools: Iterable[Tool] = ALL,
) -> AsyncIterator[ASGIApp]:
    """Run the MCP app over an open storage while the context lasts: the SDK's session manager runs once."""
    security = trusted(settings.base_url)
    calls = ToolCalls({each.name: each for each in tools}, settings.base_url, security.allowed_hosts, settings.sealer())
    manager = StreamableHTTPSessionManager(
        _create(settings.base_url, calls),
        json_response=True,
        stateless=True,
        security_settings=security,
        max_request_body_size=body.LARGEST_BODY,
    )
    rates = {CALL: settings.limited(settings.mcp_rate), REJECTED: settings.limited(settings.rejected_rate)}
    limits = RateLimits(rates, counts or Counts())
    async with manager.run():
        yield McpApp(
            app=manager.handle_request, calls=calls, reader=reader, settings=settings, limits=limits, clock=clock
        )


def _create(base_url: str, calls: ToolCalls) -> Server[Any]:
    return Server(
        "affiliate-tracking",
        title="Affiliate tracking",
        version=VERSION,
        instructions=INSTRUCTIONS,
        website_url=base_url,
        cache_hints=dict.fromkeys(get_args(CacheableMethod), FIVE_MINUTES),
        get_tool_input_schema=lambda _name: None,  # no argument travels in a header: there is none to check
        on_list_tools=calls.list,
        on_call_tool=lambda context, params: calls.call(caller_of(context), params),
        on_list_resources=lambda _, __: attachments.list_resources(base_url),
        on_list_resource_templates=attachments.list_templates,
        on_read_resource=lambda _, params: attachments.read_resource(base_url, params),
        on_list_prompts=attachments.list_prompts,
        on_get_prompt=attachments.get_prompt,
        on_completion=attachments.complete,
    )


def trusted(base_url: str) -> TransportSecuritySettings:
    """Return the hosts and origins that a request may name: the service's public URL, and this machine."""
    url = urlsplit(base_url)
    default_port = 443 if url.scheme == "https" else 80
    served = {url.netloc, f"{url.hostname}:{url.port or default_port}"}
    hosts = [*sorted(served), *LOCAL, *(f"{host}:*" for host in LOCAL)]
    origins = [f"{scheme}://{host}" for scheme in ("http", "https") for host in hosts]
    return TransportSecuritySettings(allowed_hosts=hosts, allowed_origins=origins)


@dataclass(frozen=True, kw_only=True)
class McpApp:
    """Pure ASGI: accepts a POST with a key, and holds the response until a read has proved that key."""

    app: ASGIApp
    calls: ToolCalls
    reader: Reader
    settings: Configuration
    limits: RateLimits
    clock: Callable[[], datetime]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["path"] != "/mcp":
            await error_in_client_format(errors.NotFound(), scope)(scope, receive, send)
            return
        scope["route_path"] = "/mcp"
        if scope["method"] != "POST":
            await error_response(errors.MethodNotAllowed(), scope, {"Allow": "POST"})(scope, receive, send)
            return
        host = Headers(scope=scope).get("host", "")
        scope["headers"] = [_tidied(name, value.strip(b" \t"), scope) for name, value in scope["headers"]]
        scope["header_fields"] = dict(scope["headers"])
        credential = client.agent_credential(Headers(scope=scope))
        resource = self.settings.mcp_url
        caller = Caller(self.reader, credential, self.clock(), scope["request_id"], resource=resource)
        scope[SCOPE_MEMBER] = caller
        try:
            async with self.limits.guessing(client_of(scope), caller.credential) as is_known:
                if not is_known:
                    await caller.prove()  # nothing is read or remembered for a key that somebody invents
                response = await self._serve(caller, scope, receive)
            for message in response:
                await send(message)
        except errors.ServiceError as error:
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


def _challenge(error: errors.ServiceError, caller: Caller, settings: Configuration, *, host: str) -> dict[str, str]:
    """Return the challenge for an error; none for an error that no other credential would change."""
    if not isinstance(error, errors.InvalidKey | errors.WrongKeyType | errors.InsufficientScope):
        return {}
    # With a wrong key, a client must fix it: some drop their user's header once they hear of an authorization server.
    parameters: dict[str, str] = {}
    if settings.assistants_sign_in and isinstance(error, errors.InsufficientScope):
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
    """Return a header as the SDK compares it: a Host that is this socket's IP address counts as localhost."""
    host, port = scope.get("server") or ("", 0)  # a page that rebinds a domain to this machine would send the domain
    served = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    return (name, b"localhost") if name == b"host" and value.decode("latin-1") == served else (name, value)
