"""JSON schemas as small as possible: every client reads all of them, in every conversation."""

from collections.abc import Iterable
from functools import cache
from typing import Any

from pydantic import BaseModel

from storage.rules.untrusted import UNTRUSTED

_PUBLISHED = (
    "enum",
    "maximum",
    "type",
    "items",
    "minItems",
    "maxItems",
    "description",
)  # error messages name the other limits


@cache
def of_arguments(model: type[BaseModel]) -> dict[str, dict[str, Any]]:
    """Return the full schema of each argument, from which error messages are made: an optional one as its type."""
    whole = model.model_json_schema()

    def inlined(node: dict[str, Any]) -> dict[str, Any]:
        kind = next((each for each in node.get("anyOf", ()) if each != {"type": "null"}), node)
        return whole["$defs"][kind["$ref"].rpartition("/")[2]] if "$ref" in kind else kind

    return {name: inlined(node) for name, node in whole["properties"].items()}


def published_arguments(model: type[BaseModel]) -> dict[str, Any]:
    """Return a tool's input schema: names, types and choices."""
    properties = {name: _published(node) for name, node in of_arguments(model).items()}
    required = [name for name, field in model.model_fields.items() if field.is_required()]
    needed = {"required": required} if required else {}
    return {"type": "object", "properties": properties, **needed, "additionalProperties": False}


def _published(node: dict[str, Any]) -> dict[str, Any]:
    return {name: _published(node[name]) if name == "items" else node[name] for name in node if name in _PUBLISHED}


def published_result(untrusted: Iterable[str]) -> dict[str, Any]:
    """Return a tool's output schema: which of its fields hold untrusted text.

    Values show their own types: all schemas together must stay within a few kilobytes.
    """
    properties = {name: {"description": UNTRUSTED} for name in untrusted}
    return {"type": "object", "properties": properties, "required": ["as_of", "applied_query"]}
