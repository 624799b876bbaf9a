"""What a tool is asked: a strict model, and errors that say what is accepted without repeating what was sent."""

from collections.abc import Mapping
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, StringConstraints
from pydantic import ValidationError as Invalid

from mcp_server import schema
from mcp_server.sanitize import clean
from storage.engine.pagination import Paging
from storage.rules.errors import FieldError, ValidationError

MOST = 100
Asked = TypeVar("Asked", bound="Arguments")
Identifier = Annotated[str, StringConstraints(min_length=1, max_length=255, pattern=r"^[^\x00-\x1f\x7f-\x9f]*$")]
RowId = Annotated[int, Field(ge=1, lt=2**53)]
Limit = Annotated[int, Field(ge=1, le=MOST)]
Cursor = Annotated[str, StringConstraints(min_length=1, max_length=512)]


class Arguments(BaseModel):
    """The arguments of a tool; one that it does not know is an error, never ignored."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    def applied(self) -> dict[str, Any]:
        """Return the query as it was applied, defaults included; of what is None nothing."""
        sent = self.model_dump(mode="json", exclude_none=True, exclude={"cursor"})
        return {name: clean(value) if isinstance(value, str) else value for name, value in sent.items()}


class OfProgram(Arguments):
    """Arguments of a tool that is about one program."""

    program_id: int


class Paged(Arguments):
    """Arguments of a tool that lists, newest first."""

    limit: Limit = 25
    cursor: Cursor | None = None

    @property
    def paging(self) -> Paging:
        """The page that is wanted."""
        return Paging(self.limit, self.cursor)


def parse(model: type[Asked], given: Mapping[str, Any]) -> Asked:
    """Return the arguments as the model. Raises ValidationError, which names what is accepted and echoes nothing."""
    try:
        return model.model_validate(given)
    except Invalid as invalid:
        raise _refusal(model, invalid) from None


def _refusal(model: type[Arguments], invalid: Invalid) -> ValidationError:
    accepted = schema.of_arguments(model)["properties"]
    wrong = {str(error["loc"][0]): error["type"] for error in invalid.errors(include_input=False) if error["loc"]}
    known = [FieldError(name, _expected(accepted[name], kind)) for name, kind in wrong.items() if name in accepted]
    unknown = len(wrong) - len(known)
    if unknown:
        known.append(FieldError("(unknown)", f"{unknown} argument(s) that this tool does not have: leave them out"))
    return ValidationError("Some arguments are missing or wrong.", hint=accepts(model), fields=known)


def accepts(model: type[Arguments]) -> str:
    """Return a sentence with the arguments that there are."""
    accepted = schema.of_arguments(model)
    required = accepted.get("required", [])
    names = [f"{name} (required)" if name in required else name for name in accepted["properties"]]
    return f"Accepted arguments: {', '.join(names)}."


def _expected(accepted: dict[str, Any], kind: str) -> str:
    """Say what an argument must be, from its published schema."""
    if "enum" in accepted:
        must = f"One of {', '.join(accepted['enum'])}"
    elif accepted["type"] == "integer":
        must = (
            f"An integer from {accepted['minimum']} to {accepted['maximum']}" if "maximum" in accepted else "An integer"
        )
    elif accepted["type"] == "boolean":
        must = "true or false"
    else:
        must = f"Text of {accepted.get('minLength', 0)} to {accepted['maxLength']} characters, no control characters"
    return f"Required: {must[0].lower()}{must[1:]}" if kind == "missing" else must
