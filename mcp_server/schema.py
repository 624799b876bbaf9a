"""JSON schemas as small as possible: every client reads all of them, in every conversation."""

from functools import cache
from typing import Any

from pydantic import BaseModel

from storage.rules.untrusted import UNTRUSTED

_IN_ERRORS = {"title", "default", "format", "pattern", "minLength", "maxLength", "minimum", "exclusiveMaximum"}
_IN_EVERY = ["as_of", "applied_query"]  # the server's instructions say what these and those of a page are
_IN_PAGES = {"truncated", "next_cursor"}


@cache
def of_arguments(model: type[BaseModel]) -> dict[str, Any]:
    """Return the full schema of a tool's arguments, from which error messages are made."""
    whole: dict[str, Any] = _shrunk(model, leave_out={"title", "default", "pattern"})
    return {"required": [], **whole}


def published_arguments(model: type[BaseModel]) -> dict[str, Any]:
    """Return a tool's input schema: names, types and choices."""
    small = _shrunk(model, leave_out=_IN_ERRORS)
    return {name: small[name] for name in ("type", "properties", "required", "additionalProperties") if name in small}


def published_result(model: type[BaseModel]) -> dict[str, Any]:
    """Return a tool's output schema: what is always there, its rows, and which texts are untrusted.

    Values show their own types: all schemas together must stay within a few kilobytes.
    """
    small = _shrunk(model, leave_out=_IN_ERRORS)
    outlined = {name: _outlined(content) for name, content in small["properties"].items()}
    properties = {name: outline for name, outline in outlined.items() if name == "data" or "description" in outline}
    required = [*_IN_EVERY, *(name for name in small["required"] if name not in _IN_PAGES)]
    return {"type": "object", "properties": properties, "required": required}


def _outlined(node: dict[str, Any]) -> dict[str, Any]:
    """Describe a value by its type, and whether it holds untrusted text."""
    outline: dict[str, Any] = {name: node[name] for name in ("type", "anyOf") if name in node}
    return {**outline, "description": UNTRUSTED} if _is_untrusted(node) else outline


def _is_untrusted(node: dict[str, Any]) -> bool:
    parts = [*node.get("properties", {}).values(), *([node["items"]] if "items" in node else [])]
    return node.get("description") == UNTRUSTED or any(map(_is_untrusted, parts))


def _shrunk(model: type[BaseModel], *, leave_out: set[str]) -> Any:
    """Return a model's schema with inlined definitions and without redundant members."""
    whole = model.model_json_schema()
    definitions = whole.pop("$defs", {})

    def shrink(node: Any) -> Any:
        if isinstance(node, list):
            return [shrink(each) for each in node]
        if not isinstance(node, dict):
            return node
        if "$ref" in node:
            node = {**definitions[node["$ref"].rpartition("/")[2]]}
            node.pop("description", None)
        if "anyOf" in node:
            return shrink_choice(node)
        remaining = {name: content for name, content in node.items() if name not in leave_out}
        properties = {name: shrink(content) for name, content in remaining.pop("properties", {}).items()}
        shrunk = {name: shrink(content) for name, content in remaining.items()}
        return {**shrunk, "properties": properties} if properties else shrunk

    def shrink_choice(node: dict[str, Any]) -> Any:
        """Describe an optional value by its type if it may be left out, else by its type or null."""
        kinds = [each for each in node["anyOf"] if each != {"type": "null"}]
        if len(kinds) > 1:
            return {"type": [each["type"] for each in kinds]}
        shrunk = shrink(kinds[0])
        return shrunk if "default" in node else {"anyOf": [shrunk, {"type": "null"}]}

    return shrink(whole)
