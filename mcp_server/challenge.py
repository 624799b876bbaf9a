"""WWW-Authenticate: how a client continues after its credential was rejected (RFC 6750, 3; RFC 9728, 5.1)."""

from configuration import Configuration
from mcp_server.caller import Caller
from storage.rules.errors import InsufficientScope, InvalidKey, ServiceError, WrongKeyType
from storage.rules.scope import READING
from web.loopback import called

METADATA = "/.well-known/oauth-protected-resource/mcp"  # RFC 9728, 3.1


def headers(error: ServiceError, caller: Caller, settings: Configuration, *, host: str) -> dict[str, str]:
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
        parameters["resource_metadata"] = f"{called(settings.base_url, host)}{METADATA}"
    quoted = ", ".join(f'{name}="{value}"' for name, value in parameters.items())
    return {"WWW-Authenticate": f"Bearer {quoted}".strip()}
