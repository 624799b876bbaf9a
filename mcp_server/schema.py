"""JSON schemas as small as they can be said: every client reads all of them, in every conversation."""

from collections.abc import Iterator
from functools import cache
from typing import Any

from pydantic import BaseModel

from mcp_server.sanitize import UNTRUSTED

_SAID_ELSEWHERE = {"title", "default", "format", "pattern", "minLength", "maxLength", "minimum", "exclusiveMaximum"}
_IN_EVERY_RESULT = {"as_of", "applied_query"}  # the server's instructions say what they are


@cache
def of_arguments(model: type[BaseModel]) -> dict[str, Any]:
    """Return all that a tool's arguments must be: what errors are worded from."""
    made = model.model_json_schema()
    whole: dict[str, Any] = _shrunk(made, made.get("$defs", {}), leave_out={"title", "default", "pattern"})
    return {"type": "object", "properties": whole["properties"], "required": whole.get("required", [])}


def published_arguments(model: type[BaseModel]) -> dict[str, Any]:
    """Return a tool's input schema: names, types and choices."""
    made = model.model_json_schema()
    small = _shrunk(made, made.get("$defs", {}), leave_out=_SAID_ELSEWHERE)
    required = {"required": small["required"]} if "required" in small else {}
    return {"type": "object", "properties": small["properties"], **required, "additionalProperties": False}


def published_result(model: type[BaseModel]) -> dict[str, Any]:
    """Return a tool's output schema: the types of its members, what is always there, and which texts are untrusted.

    Rows name their own fields: all twelve schemas together must stay within a few kilobytes.
    """
    made = model.model_json_schema()
    small = _shrunk(made, made.get("$defs", {}), leave_out=_SAID_ELSEWHERE)
    told = {name: content for name, content in small["properties"].items() if name not in _IN_EVERY_RESULT}
    properties = {name: _outlined(content) for name, content in told.items()}
    return {"type": "object", "properties": properties, "required": small["required"]}


def _outlined(node: dict[str, Any]) -> dict[str, Any]:
    """Say a value by its type; an object or a list also by the names in it that hold untrusted text."""
    names = sorted(set(_untrusted(node)))
    shown: dict[str, Any] = {name: node[name] for name in ("type", "anyOf", "description") if name in node}
    return {**shown, "description": f"{UNTRUSTED}: {', '.join(names)}"} if names else shown


def _untrusted(node: dict[str, Any]) -> Iterator[str]:
    for name, content in node.get("properties", {}).items():
        if UNTRUSTED in (name, content.get("description"), content.get("items", {}).get("description")):
            yield name
        else:
            yield from _untrusted(content)
    if "items" in node:
        yield from _untrusted(node["items"])


def _shrunk(node: Any, definitions: dict[str, Any], *, leave_out: set[str]) -> Any:
    """Put definitions where they are used, and leave out what says nothing new."""
    if isinstance(node, list):
        return [_shrunk(each, definitions, leave_out=leave_out) for each in node]
    if not isinstance(node, dict):
        return node
    if "$ref" in node:
        definition = definitions[node["$ref"].rpartition("/")[2]]
        node = {name: value for name, value in definition.items() if name != "description"}
    if "anyOf" in node:
        return _either(node, definitions, leave_out=leave_out)
    return {
        name: {each: _shrunk(value, definitions, leave_out=leave_out) for each, value in content.items()}
        if name == "properties"
        else _shrunk(content, definitions, leave_out=leave_out)
        for name, content in node.items()
        if name not in leave_out
    }


def _either(node: dict[str, Any], definitions: dict[str, Any], *, leave_out: set[str]) -> Any:
    """Say an optional value by its type alone where it may be left out, with null where that is sent."""
    kinds = [each for each in node["anyOf"] if each != {"type": "null"}]
    if len(kinds) > 1:
        return {"type": [each["type"] for each in kinds]}
    shown = _shrunk(kinds[0], definitions, leave_out=leave_out)
    return shown if "default" in node else {"anyOf": [shown, {"type": "null"}]}
