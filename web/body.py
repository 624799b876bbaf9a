"""Request bodies: read once, within a limit and a deadline; JSON is parsed straight into a model."""

import asyncio
import hashlib
import json
from collections.abc import Iterator
from itertools import islice
from typing import Annotated, Any, ClassVar, TypeVar

from pydantic import BaseModel, ConfigDict, StringConstraints
from pydantic import ValidationError as Invalid
from pydantic_core import from_json, to_json
from starlette.types import Message, Receive, Scope

from storage.rules.errors import FieldError, InvalidJson, PayloadTooLarge, UnsupportedMediaType, ValidationError
from web.errors import BodyTooSlow

JSON = "application/json"
FORM = "application/x-www-form-urlencoded"
LARGEST_BODY = 64 * 1024
LONGEST_WAIT_SECONDS = 30.0
IDEMPOTENCY_KEY = "Idempotency-Key"
LONGEST_KEY = 255
MOST_NAMED = 20  # of the fields with a NUL
MALFORMED = "Malformed, or with control characters in it"
_NO_CONTROL = r"^[^\x00-\x1f\x7f-\u009f]*$"
Parsed = TypeVar("Parsed", bound="Body")

Identifier = Annotated[str, StringConstraints(min_length=1, max_length=255, pattern=_NO_CONTROL)]
Url = Annotated[str, StringConstraints(min_length=1, max_length=2048, pattern=_NO_CONTROL)]
Text = Annotated[str, StringConstraints(min_length=1, max_length=512, pattern=_NO_CONTROL)]
Currency = Annotated[str, StringConstraints(pattern=r"^[A-Za-z]{3}$", to_upper=True)]


class Body(BaseModel):
    """A request body: strict types (a boolean is no integer, "1" no number), unknown fields ignored."""

    model_config = ConfigDict(strict=True, extra="ignore", frozen=True)
    may_be_absent: ClassVar[bool] = False  # a request without a body is one with `{}`


async def read_body(
    scope: Scope,
    receive: Receive,
    *,
    media_type: str = JSON,
    largest: int = LARGEST_BODY,
    seconds: float = LONGEST_WAIT_SECONDS,
) -> bytes | bytearray:
    """Return the request's body, which must be of a media type and may take `seconds` in all to arrive."""
    headers = scope.get("header_fields") or dict(scope["headers"])
    sent = headers.get(b"content-type", b"").decode("latin-1")
    if sent != media_type and sent.partition(";")[0].strip().lower() != media_type:
        advice = f"Set the header Content-Type: {media_type}."
        raise UnsupportedMediaType(f"The body must be sent as {media_type}.", hint=advice)
    length = headers.get(b"content-length", b"0")
    if length.isdigit() and int(length) > largest:
        raise PayloadTooLarge
    message = await receive()
    content = message.get("body", b"")
    if message.get("more_body"):
        content = bytearray(content)  # grows in place: a body of many small pieces costs no more than a whole one
        try:
            async with asyncio.timeout(seconds):
                while message.get("more_body") and len(content) <= largest:
                    message = await receive()
                    content += message.get("body", b"")
        except TimeoutError:
            raise BodyTooSlow from None
    if len(content) > largest:
        raise PayloadTooLarge
    if message["type"] == "http.disconnect":
        raise InvalidJson("The connection ended before the body did.")
    if media_type == JSON and b"\\u0000" in content:
        _require_no_nul(content)
    elif media_type == FORM and (b"%00" in content or 0 in content):
        raise ValidationError.of("", "The form contains a NUL.")
    return content


def repeat_key(header: str | None, path: str, content: bytes | bytearray) -> tuple[str, str] | None:
    """Return a header's Idempotency-Key with a hash of the request, None without one. Raises ValidationError."""
    if header is None:
        return None
    if not (0 < len(header) <= LONGEST_KEY and header.isascii() and header.isprintable()):
        raise ValidationError.of(IDEMPOTENCY_KEY, f"1 to {LONGEST_KEY} printable ASCII characters")
    sent = json.dumps(from_json(content), sort_keys=True)  # whatever its spacing and order
    return header, hashlib.sha256(f"{path}\n{sent}".encode()).hexdigest()


def replay(content: bytes, receive: Receive) -> Receive:
    """Return a `receive` that delivers a body again after it was read, then the client's further messages."""
    messages: list[Message] = [{"type": "http.request", "body": content, "more_body": False}]

    async def replayed() -> Message:
        return messages.pop() if messages else await receive()

    return replayed


def _require_no_nul(content: bytes | bytearray) -> None:
    try:
        value = from_json(content)
    except ValueError:
        return  # whoever parses it says so
    names = list(islice(_with_nul(value, ""), MOST_NAMED))
    if names:
        raise ValidationError(fields=[FieldError(name.replace("\0", "")[:255], MALFORMED) for name in names])


def _with_nul(value: Any, path: str) -> Iterator[str]:
    """Yield the path of each text, or name of a member, that contains a NUL."""
    if isinstance(value, str) and "\0" in value:
        yield path.removeprefix(".")
    members = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, each in members:
        inner = f"{path}.{name}"
        yield from [inner.removeprefix(".")] if "\0" in str(name) else _with_nul(each, inner)


def parse(
    model: type[Parsed], content: bytes | bytearray, *, empty_is_absent: bool = False, strict: bool | None = None
) -> Parsed:
    """Return the body as a model. Raises InvalidJson, or ValidationError naming each field that is wrong."""
    try:
        return model.model_validate_json(content, strict=strict)
    except Invalid as invalid:
        errors = invalid.errors(include_url=False, include_context=False)
    if any(error["type"] == "json_invalid" or not error["loc"] for error in errors):
        raise InvalidJson
    # 1.0 is an integer, and with `empty_is_absent` an empty string in an optional field is none.
    fixed = _fix(model, content, errors, empty_is_absent=empty_is_absent)
    if fixed is not None:
        return parse(model, fixed, empty_is_absent=empty_is_absent)
    messages = [MALFORMED if each["type"] == "string_pattern_mismatch" else each["msg"] for each in errors]
    names = [".".join(map(str, each["loc"]))[:255] for each in errors]
    raise ValidationError(fields=list(map(FieldError, names, messages)))


def _fix(model: type[Body], content: bytes | bytearray, errors: list[Any], *, empty_is_absent: bool) -> bytes | None:
    """Return the body with its harmless errors fixed; None if there are none."""
    body, changed = from_json(content), False
    for error in errors:
        *path, name = error["loc"]
        parent = body
        for part in path:
            parent = parent.get(part) if isinstance(parent, dict) else None
        value = parent.get(name) if isinstance(parent, dict) else None
        if isinstance(value, float) and value.is_integer() and error["type"].startswith("int"):
            parent[name], changed = int(value), True
        elif value == "" and empty_is_absent and (path or not model.model_fields[name].is_required()):
            del parent[name]
            changed = True
    return to_json(body) if changed else None
