"""A tool: what it is called, what it needs, what it takes and gives, and the one read that answers it."""

from collections.abc import Callable
from datetime import datetime
from typing import Any, NamedTuple

from mcp_types import Tool as Published
from mcp_types import ToolAnnotations

from mcp_server import schema
from mcp_server.arguments import Arguments
from mcp_server.results import Result
from storage.access.agent_keys import AgentKey
from storage.access.assistants import Assistant
from storage.rules.scope import Scope

READS_ONLY = ToolAnnotations(read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False)


class ToolRequest(NamedTuple):
    """A call that its key allows, at its moment, over a connection that can only read."""

    connection: Any
    key: AgentKey | Assistant
    at: datetime
    base_url: str

    def says(self, arguments: Arguments) -> dict[str, Any]:
        """Return what every result opens with."""
        return {"as_of": self.at, "applied_query": arguments.applied()}


class Tool(NamedTuple):
    """`answer(call, arguments)` reads and returns a `result`; `scope` is what the caller's key must have."""

    name: str
    title: str
    scope: Scope
    description: str
    arguments: type[Arguments]
    result: type[Result]
    answer: Callable[[ToolRequest, Any], Result]

    def published(self) -> Published:
        """Return the tool as tools/list shows it."""
        return Published(
            name=self.name,
            title=self.title,
            description=self.description,
            input_schema=schema.published_arguments(self.arguments),
            output_schema=schema.published_result(self.result),
            annotations=READS_ONLY,
        )
