"""What the MCP server takes from the configuration."""

from typing import NamedTuple


class McpSettings(NamedTuple):
    """`base_url` is where the world reaches the service; `redis_url` shares rate limits between processes.

    `call_rate` is what one key may send, in the notation of the `limits` package ("600/minute"); None: no limit.
    A request's body must arrive within `body_seconds`. `assistants_sign_in`: there is an authorization server.
    """

    base_url: str = "http://127.0.0.1:8000"
    call_rate: str | None = "600/minute"
    redis_url: str | None = None
    body_seconds: float = 30.0
    assistants_sign_in: bool = False

    @property
    def resource(self) -> str:
        """What an assistant's access token must be for (RFC 8707)."""
        return f"{self.base_url}/mcp"
