"""A tool: a typed function; its parameters give the input schema, its docstring the description."""

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import Enum
from functools import cached_property
from typing import Annotated, Any, NamedTuple, get_args

from mcp_types import Tool as PublishedTool
from mcp_types import ToolAnnotations
from pydantic import Field, create_model

from mcp_server.arguments import Arguments, published_arguments, published_result
from mcp_server.results import JsonRow
from mcp_server.sanitize import json_of, row_of
from storage.access.agent_keys import AgentKey
from storage.access.assistants import Assistant
from storage.rules.scope import Scope

READS_ONLY = ToolAnnotations(read_only_hint=True, open_world_hint=False)  # the other hints are about what writes


class ToolRequest(NamedTuple):
    """An authorized request with its time and a read-only connection.

    `applied_query` has the arguments; a tool that applies other values changes it.
    """

    connection: Any
    key: AgentKey | Assistant
    at: datetime
    base_url: str
    applied_query: dict[str, Any]


@dataclass(frozen=True, eq=False)
class Tool:
    """`run(request, **arguments)` reads and returns JSON, with texts of outsiders in the fields of `untrusted`.

    The key must have `scope`. The name and the docstring of `function` are the tool's.
    """

    function: Callable[..., Any]
    title: str
    scope: Scope
    arguments: type[Arguments]
    untrusted: Sequence[str]
    run: Callable[..., JsonRow]

    @property
    def name(self) -> str:
        """The name by which assistants call it."""
        return self.function.__name__

    @cached_property
    def published(self) -> PublishedTool:
        """The tool as tools/list shows it; the first request waits for it, since all tools take 0.1 s."""
        return PublishedTool(
            name=self.name,
            title=self.title,
            description=" ".join((self.function.__doc__ or "").split()),
            input_schema=published_arguments(self.arguments),
            output_schema=published_result(self.untrusted),
            annotations=READS_ONLY,
        )


def tool(title: str, scope: Scope, *untrusted: str) -> Callable[[Callable[..., Any]], Tool]:
    """Make a tool of a function `(request: ToolRequest, <arguments>) -> row or dict`; the key must have `scope`.

    The row's fields are the result's; `untrusted` names those with texts that outsiders wrote. An argument named
    program_id is checked against the programs of the key before the function runs.
    """

    def made(function: Callable[..., Any]) -> Tool:
        _, *parameters = inspect.signature(function).parameters.values()
        fields: dict[str, Any] = {parameter.name: _field(parameter) for parameter in parameters}

        def run(request: ToolRequest, **sent: Any) -> JsonRow:
            result = function(request, **sent)
            if not isinstance(result, dict):
                return row_of(result)
            present = {name: each for name, each in result.items() if each is not None}
            return {name: json_of(each, is_untrusted=name in untrusted) for name, each in present.items()}

        arguments = create_model(function.__name__, __base__=Arguments, **fields)
        return Tool(function, title, scope, arguments, untrusted, run)

    return made


def _field(parameter: inspect.Parameter) -> tuple[Any, Any]:
    """Return a model's field for a parameter; a choice is read from its text, anything else strictly."""
    kinds = (parameter.annotation, *get_args(parameter.annotation))
    choice = any(isinstance(kind, type) and issubclass(kind, Enum) for kind in kinds)
    annotation = Annotated[parameter.annotation, Field(strict=False)] if choice else parameter.annotation
    return annotation, ... if parameter.default is parameter.empty else parameter.default
