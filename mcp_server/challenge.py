"""WWW-Authenticate: what a client that was refused does next (RFC 6750, 3; RFC 9728, 5.1)."""

from mcp_server.caller import Caller
from mcp_server.settings import McpSettings
from storage.rules.errors import InsufficientScope, InvalidKey, ServiceError, WrongKeyType
from storage.rules.scope import READING
from web.loopback import called

METADATA = "/.well-known/oauth-protected-resource/mcp"  # RFC 9728, 3.1


def headers(refusal: ServiceError, caller: Caller, settings: McpSettings, *, host: str) -> dict[str, str]:
    """Return the challenge that a refusal calls for; none for a refusal that no other credential would change.

    `host` is the name under which the service was called.

    Where to sign in is told to who sent nothing or an access token. Who sent a key that does not work shall mend the
    key: some clients drop a header that their user configured as soon as they hear of an authorization server.
    """
    if not isinstance(refusal, InvalidKey | WrongKeyType | InsufficientScope):
        return {}
    told: dict[str, str] = {}
    if settings.assistants_sign_in and isinstance(refusal, InsufficientScope):
        wanted = [*refusal.details["granted_scopes"], refusal.details["required_scope"]]
        told = {"error": "insufficient_scope", "scope": " ".join(wanted)}
    elif settings.assistants_sign_in and caller.signed_in:
        told = {"error": "invalid_token", "scope": " ".join(READING)}
    elif settings.assistants_sign_in and caller.credential is None:
        told = {"scope": " ".join(READING)}
    if told:
        told["resource_metadata"] = f"{called(settings.base_url, host)}{METADATA}"
    parameters = ", ".join(f'{name}="{value}"' for name, value in told.items())
    return {"WWW-Authenticate": f"Bearer {parameters}".strip()}
