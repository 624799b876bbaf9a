"""A tool's arguments: a strict model, errors that name what is accepted, and schemas as small as possible."""

from collections.abc import Iterable, Mapping
from functools import cache
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, StringConstraints
from pydantic import ValidationError as Invalid

from mcp_server.sanitize import clean
from storage.rules.errors import FieldError, InvalidRange, ValidationError
from storage.rules.periods import period
from storage.rules.periods.period import Span
from storage.rules.untrusted import UNTRUSTED

Parsed = TypeVar("Parsed", bound="Arguments")
Identifier = Annotated[str, StringConstraints(min_length=1, max_length=255, pattern=r"^[^\x00-\x1f\x7f-\x9f]*$")]
RowId = Annotated[int, Field(ge=1, lt=2**53)]
Limit = Annotated[int, Field(ge=1, le=100)]
Timestamp = Annotated[str, StringConstraints(min_length=10, max_length=40)]
Cursor = Annotated[str, StringConstraints(min_length=1, max_length=512)]
WRITTEN = "Write 2026-01-31 or 2026-01-31T00:00:00Z."


class Arguments(BaseModel):
    """The arguments of a tool; an unknown argument is an error."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    def applied(self) -> dict[str, Any]:
        """Return the applied query: with defaults, without absent values and the cursor."""
        sent = self.model_dump(mode="json", exclude_none=True, exclude={"cursor"})
        return {name: clean(value) if isinstance(value, str) else value for name, value in sent.items()}


def parse(model: type[Parsed], sent: Mapping[str, Any]) -> Parsed:
    """Return the arguments as the model. Raises ValidationError, which names the accepted values."""
    try:
        return model.model_validate(sent)
    except Invalid as invalid:
        raise _error(model, invalid) from None


def span_of(date_from: str | None, date_to: str | None) -> Span:
    """Return the span of two dates or timestamps. Raises InvalidRange with the names of these arguments."""
    try:
        return period.span(date_from, date_to)
    except InvalidRange:
        raise InvalidRange("date_from and date_to must be ISO 8601 and in order.", hint=WRITTEN) from None


def _error(model: type[Arguments], invalid: Invalid) -> ValidationError:
    properties = of_arguments(model)
    wrong = {str(error["loc"][0]): error["type"] for error in invalid.errors(include_input=False) if error["loc"]}
    fields = [FieldError(name, _expected(properties[name], kind)) for name, kind in wrong.items() if name in properties]
    if unknown := len(wrong) - len(fields):
        fields.append(FieldError("(unknown)", f"{unknown} unknown argument(s): leave them out"))
    names = [f"{name} (required)" if model.model_fields[name].is_required() else name for name in properties]
    hint = f"Accepted arguments: {', '.join(names)}."
    return ValidationError("Some arguments are missing or wrong.", hint=hint, fields=fields)


def _expected(accepted: dict[str, Any], kind: str) -> str:
    """Return the accepted values of an argument, from its full schema."""
    if "enum" in accepted:
        must = f"One of {', '.join(accepted['enum'])}"
    elif accepted["type"] == "integer":
        must = "An integer"
        if "maximum" in accepted:
            must = f"An integer from {accepted['minimum']} to {accepted['maximum']}"
    elif accepted["type"] == "array":
        what = "integers" if accepted["items"]["type"] == "integer" else "texts"
        must = f"A list of {accepted['minItems']} to {accepted['maxItems']} {what}"
    elif accepted["type"] == "boolean":
        must = "true or false"
    else:
        must = f"Text of {accepted.get('minLength', 0)} to {accepted['maxLength']} characters, no control characters"
    return f"Required: {must[0].lower()}{must[1:]}" if kind == "missing" else must


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
