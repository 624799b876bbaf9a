"""A tool: a typed function. Its parameters give the input schema and the errors.

`descriptions.toml` has what assistants read of it; without an entry there it is the docstring.
"""

import inspect
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, NamedTuple

from mcp_types import Tool as PublishedTool
from mcp_types import ToolAnnotations
from pydantic import BaseModel, ConfigDict, Field, StringConstraints, create_model
from pydantic import ValidationError as Invalid
from pydantic_core import to_json

from mcp_server.results import JsonRow, json_of
from storage.access import agent_keys, assistants
from storage.engine.sealing import Sealer
from storage.rules.errors import FieldError, ValidationError
from storage.rules.scope import Scope
from storage.rules.untrusted import UNTRUSTED

Key = agent_keys.AgentKey | assistants.Assistant
Identifier = Annotated[str, StringConstraints(min_length=1, max_length=255, pattern=r"^[^\x00-\x1f\x7f-\x9f]*$")]
RowId = Annotated[int, Field(ge=1, lt=2**53)]
Limit = Annotated[int, Field(ge=1, le=100)]
Timestamp = Annotated[str, StringConstraints(min_length=10, max_length=40)]
Cursor = Annotated[str, StringConstraints(min_length=1, max_length=512)]
READS_ONLY = ToolAnnotations(read_only_hint=True, open_world_hint=False)  # the other hints are about what writes
DESCRIPTIONS = tomllib.loads(Path(__file__).with_name("descriptions.toml").read_text(encoding="utf-8"))
PUBLISHED = ("enum", "maximum", "type", "items", "maxItems", "description")  # errors name the other limits


class ToolRequest(NamedTuple):
    """An authorized request; a tool that applies other values than those sent changes its `applied_query`."""

    connection: Any
    key: Key
    at: datetime
    base_url: str
    applied_query: dict[str, Any]
    sealer: Sealer


@dataclass(frozen=True, eq=False)
class Tool:
    """`run(request, **arguments)` reads and returns JSON, with texts of outsiders in the fields of `untrusted`."""

    function: Callable[..., Any]
    title: str
    scope: Scope
    fields: Mapping[str, Any]
    untrusted: Sequence[str]
    run: Callable[..., JsonRow]

    @property
    def name(self) -> str:
        return self.function.__name__

    @cached_property
    def arguments(self) -> type[BaseModel]:
        """The model of its arguments; an unknown one is an error."""
        config = ConfigDict(extra="forbid", strict=True, frozen=True)
        model: type[BaseModel] = create_model(self.name, __config__=config, **self.fields)
        return model

    @cached_property
    def schemas(self) -> dict[str, dict[str, Any]]:
        """The full schema of each argument, from which error messages are made: an optional one as its type."""
        whole, schemas = self.arguments.model_json_schema(), {}
        for words in whole.get("$defs", {}).values():
            words.pop("description", None)  # the tool's own says what they mean
        for name, node in whole["properties"].items():
            kind = next((each for each in node.get("anyOf", ()) if each != {"type": "null"}), node)
            schemas[name] = whole["$defs"][kind["$ref"].rpartition("/")[2]] if "$ref" in kind else kind
        return schemas

    @cached_property
    def published(self) -> PublishedTool:
        """The tool as tools/list shows it, without the types of results: all tools must fit a few kilobytes."""
        properties = {name: _published(node) for name, node in self.schemas.items()}
        required = [name for name, field in self.arguments.model_fields.items() if field.is_required()]
        accepted = {"type": "object", "properties": properties, **({"required": required} if required else {})}
        returned = {name: {"description": UNTRUSTED} for name in self.untrusted}
        return PublishedTool(
            name=self.name,
            title=self.title,
            description=" ".join((DESCRIPTIONS.get(self.name) or self.function.__doc__ or "").split()),
            input_schema={**accepted, "additionalProperties": False},
            output_schema={"type": "object", "properties": {"as_of": {}, **returned}},
            annotations=READS_ONLY,
        )

    def parse(self, sent: Mapping[str, Any]) -> BaseModel | ValidationError:
        """Return the arguments, or the error that names the accepted values."""
        try:
            return self.arguments.model_validate_json(to_json(sent))  # JSON has no enums: strict takes their words
        except Invalid as invalid:
            wrong = {each["loc"][0]: each["type"] for each in invalid.errors(include_input=False) if each["loc"]}
        schemas, model_fields = self.schemas, self.arguments.model_fields
        fields = [FieldError(name, _expected(schemas[name], wrong[name])) for name in wrong if name in schemas]
        if unknown := len(wrong) - len(fields):
            fields.append(FieldError("(unknown)", f"{unknown} unknown argument(s): leave them out"))
        names = [f"{name} (required)" if model_fields[name].is_required() else name for name in schemas]
        hint = f"Accepted arguments: {', '.join(names)}."
        return ValidationError("Some arguments are missing or wrong.", hint=hint, fields=fields)


def tool(title: str, scope: Scope, *untrusted: str) -> Callable[[Callable[..., Any]], Tool]:
    """Make a tool of a function `(request: ToolRequest, <arguments>) -> dict`; the key must have `scope`.

    `untrusted` names the fields of the result with texts that outsiders wrote. An argument named program_id is checked
    against the programs of the key before the function runs.
    """

    def made(function: Callable[..., Any]) -> Tool:
        _, *parameters = inspect.signature(function).parameters.values()
        fields = {
            each.name: (each.annotation, ... if each.default is each.empty else each.default) for each in parameters
        }

        def run(request: ToolRequest, **sent: Any) -> JsonRow:
            present = {name: each for name, each in function(request, **sent).items() if each is not None}
            return {name: json_of(each, is_untrusted=name in untrusted) for name, each in present.items()}

        return Tool(function, title, scope, fields, untrusted, run)

    return made


def _published(node: dict[str, Any]) -> dict[str, Any]:
    return {name: _published(node[name]) if name == "items" else node[name] for name in node if name in PUBLISHED}


def _expected(accepted: dict[str, Any], kind: str) -> str:
    """Return the accepted values of an argument, from its full schema."""
    if "enum" in accepted:
        must = f"One of {', '.join(accepted['enum'])}"
    elif "maximum" in accepted:
        must = f"An integer from {accepted['minimum']} to {accepted['maximum']}"
    elif accepted["type"] == "array":
        what = "integers" if accepted["items"]["type"] == "integer" else "texts"
        must = f"A list of {accepted['minItems']} to {accepted['maxItems']} {what}"
    elif accepted["type"] == "string":
        must = f"Text of {accepted.get('minLength', 0)} to {accepted['maxLength']} characters, no control characters"
    else:
        must = "An integer" if accepted["type"] == "integer" else "true or false"
    return f"Required: {must[0].lower()}{must[1:]}" if kind == "missing" else must
