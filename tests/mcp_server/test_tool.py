"""A tool is one typed function: its parameters, docstring and result are what a client is shown."""

from enum import StrEnum
from typing import Any

import pytest

from mcp_server import arguments
from mcp_server.arguments import Limit
from mcp_server.results import Result
from mcp_server.tools.tool import ToolRequest, tool
from storage.rules.errors import ValidationError
from storage.rules.scope import Scope


class Size(StrEnum):
    SMALL = "small"
    LARGE = "large"


class Echo(Result):
    text: str


@tool("Echo", Scope.PROGRAMS_READ)
def echo(request: ToolRequest, *, program_id: int, limit: Limit = 25, size: Size | None = None) -> Echo:
    """Repeat
    what was sent.
    """
    return Echo(text=f"{request.base_url} {program_id} {limit} {size}")


def test_a_function_is_what_tools_list_shows():
    shown = echo.published()

    assert (shown.name, shown.title, shown.description) == ("echo", "Echo", "Repeat what was sent.")
    assert shown.input_schema == {
        "type": "object",
        "properties": {
            "program_id": {"type": "integer"},
            "limit": {"type": "integer", "maximum": 100},
            "size": {"type": "string", "enum": ["small", "large"]},
        },
        "required": ["program_id"],
        "additionalProperties": False,
    }
    assert shown.output_schema is not None
    assert shown.output_schema["required"] == ["as_of", "applied_query", "text"]


def test_defaults_are_those_of_the_function_and_a_choice_is_read_from_its_text():
    parsed = arguments.parse(echo.arguments, {"program_id": 1, "size": "large"})

    assert dict(parsed) == {"program_id": 1, "limit": 25, "size": Size.LARGE}
    assert parsed.applied() == {"program_id": 1, "limit": 25, "size": "large"}


@pytest.mark.parametrize("given", [{"program_id": "1"}, {"program_id": 1, "size": "huge"}, {"program_id": 1, "x": 1}])
def test_anything_else_is_strict(given: dict[str, Any]):
    with pytest.raises(ValidationError):
        arguments.parse(echo.arguments, given)
