"""A tool: a typed function; its parameters give the input schema, its docstring the description."""

import inspect
from collections.abc import Callable
from datetime import datetime
from enum import Enum
from typing import Annotated, Any, NamedTuple, get_args

from mcp_types import Tool as PublishedTool
from mcp_types import ToolAnnotations
from pydantic import Field, create_model

from mcp_server import schema
from mcp_server.arguments import Arguments
from mcp_server.results import Result, model_of
from storage.access.agent_keys import AgentKey
from storage.access.assistants import Assistant
from storage.rules.scope import Scope

READS_ONLY = ToolAnnotations(read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False)
Function = Callable[..., Any]


class ToolRequest(NamedTuple):
    """An authorized request with its time and a read-only connection.

    `applied_query` has the arguments; a tool that applies other values changes it.
    """

    connection: Any
    key: AgentKey | Assistant
    at: datetime
    base_url: str
    applied_query: dict[str, Any]


class Tool(NamedTuple):
    """`function(request, **arguments)` reads and returns a `result`; `scope` is what the caller's key must have."""

    name: str
    title: str
    scope: Scope
    description: str
    arguments: type[Arguments]
    result: type[Result]
    function: Function

    def published(self) -> PublishedTool:
        """Return the tool as tools/list shows it."""
        return PublishedTool(
            name=self.name,
            title=self.title,
            description=self.description,
            input_schema=schema.published_arguments(self.arguments),
            output_schema=schema.published_result(self.result),
            annotations=READS_ONLY,
        )


def tool(title: str, scope: Scope) -> Callable[[Function], Tool]:
    """Make a tool of a function `(request: ToolRequest, <arguments>) -> result`; the caller's key must have `scope`.

    It returns a row of storage, of which the result is made, or a `Result`. An argument named program_id is checked
    against the programs of the key before the function runs.
    """

    def made(function: Function) -> Tool:
        signature = inspect.signature(function)
        _, *parameters = signature.parameters.values()
        fields: dict[str, Any] = {parameter.name: _field(parameter) for parameter in parameters}
        return Tool(
            name=function.__name__,
            title=title,
            scope=scope,
            description=" ".join((function.__doc__ or "").split()),
            arguments=create_model(function.__name__, __base__=Arguments, **fields),
            result=model_of(signature.return_annotation),
            function=function,
        )

    return made


def _field(parameter: inspect.Parameter) -> tuple[Any, Any]:
    """Return a model's field for a parameter; a choice is read from its text, anything else strictly."""
    kinds = (parameter.annotation, *get_args(parameter.annotation))
    choice = any(isinstance(kind, type) and issubclass(kind, Enum) for kind in kinds)
    annotation = Annotated[parameter.annotation, Field(strict=False)] if choice else parameter.annotation
    return annotation, ... if parameter.default is parameter.empty else parameter.default
