"""Posted forms: each has the CSRF token of its session or is rejected; its fields as values that the API accepts."""

import hmac
import re
import tomllib
from base64 import b64encode
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import NoneType
from typing import Any, NamedTuple, get_args, get_origin
from urllib.parse import SplitResult, parse_qs

from pydantic_core import to_json
from starlette.datastructures import URL, UploadFile
from starlette.exceptions import HTTPException
from starlette.requests import Request

from storage.rules import commission, errors
from storage.rules.setting_kinds import Setting
from tracking_api.dashboard import authentication
from tracking_api.dashboard.pages import text
from web import body

MOST_FIELDS = 400
AROUND_FILE = 8 * 1024  # the other fields, and what separates the parts
FIELD = "csrf"
CONFIRMED = "confirmed"
NOT_TYPED = {FIELD, CONFIRMED, "action"}
CENTS = "_cents"  # a form has an amount in major units, under the name without this
WORDS = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
_NUMBER = re.compile(r"-?(?:[0-9]{1,18}|[0-9]{0,18}(\.[0-9]{1,18}))")
_READ = "posted_form"  # where the request's scope has the form: its body can be read only once


class Form(NamedTuple):
    """The fields of a form, each with the values that were sent, and its files by name, if it may have some."""

    fields: dict[str, list[str]]
    files: list[tuple[str, bytes]]

    @property
    def file(self) -> bytes:
        """Return the content of the only file; no chosen file is empty."""
        return next((content for _, content in self.files), b"")

    def text(self, name: str) -> str:
        """Return a field's only value without the space around it; empty if it was not sent."""
        return self.raw(name).strip()

    def raw(self, name: str) -> str:
        """Return a field's only value as it was typed, such as a password."""
        return self.fields.get(name, [""])[0]

    def each(self, name: str) -> list[str]:
        """Return every value of a field."""
        return self.fields.get(name, [])


class StaleForm(errors.Forbidden):
    """The form is of another session: the visitor has signed in again since its page was opened."""

    code = errors.Forbidden.code
    message = "This form was not sent from a page of your session; open it again."


def problems_of(rejection: errors.ServiceError | ValueError) -> dict[str, str]:
    """Return an error's fields, in people's words; if it names none, its text under the empty name."""
    if isinstance(rejection, ValueError):
        return {"": str(rejection)}
    text = WORDS["errors"].get(rejection.code, rejection.text)
    messages = {each.field.removesuffix(CENTS): for_people(each.field, each.message) for each in rejection.fields}
    return messages or {WORDS["fields"].get(rejection.code, ""): text}


def path_of(url: URL | SplitResult) -> str:
    """Return the path and the query of a URL."""
    return f"{url.path}?{url.query}".removesuffix("?")


def for_people(field: str, message: str) -> str:
    """Return a field's message as an instruction: `Enter a number such as 20`."""
    if field.endswith("_cents"):
        return "Enter an amount such as 2.50"
    if message in {body.MALFORMED, "String should have at most 3 characters"} and field in WORDS["malformed"]:
        return str(WORDS["malformed"][field])
    if message == body.MALFORMED:
        return "This has characters that cannot be used here"
    matches = ((re.fullmatch(pattern, message), words) for pattern, words in WORDS["messages"].items())
    return next((found.expand(words) for found, words in matches if found), message)


def typed(form: Form) -> dict[str, str]:
    """Return what a person typed or chose, to show it again."""
    return {name: " ".join(values).strip() for name, values in form.fields.items() if name not in NOT_TYPED}


def chosen_password(form: Form) -> str:
    """Return the password that was typed twice. Raises ValidationError if the two differ."""
    if form.raw("new_password") != form.raw("repeated"):
        raise errors.ValidationError.of("repeated", "The two passwords differ")
    return form.raw("new_password")


async def read_form(request: Request, *, largest_file: int = 0) -> Form:
    """Return the form of a signed-in visitor, if it has files with about `largest_file` bytes. Raises StaleForm."""
    has_files = largest_file and request.headers.get("content-type", "").startswith("multipart/")
    form = await (_with_files(request, largest_file) if has_files else content(request))
    require_token(request, form)
    return form


async def _with_files(request: Request, largest: int) -> Form:
    """Return a form with files. The whole body is read before it is taken apart."""
    limits = {"largest": largest + AROUND_FILE, "seconds": request.app.state.settings.body_seconds}
    sent = await body.read_body(request.scope, request.receive, media_type="multipart/form-data", **limits)
    whole = Request(request.scope, body.replay(bytes(sent), request.receive))
    form = Form({}, [])
    try:
        async with whole.form(max_files=10, max_fields=MOST_FIELDS, max_part_size=largest) as parts:
            for name, value in parts.multi_items():
                if isinstance(value, UploadFile):
                    form.files.append((value.filename or "", await value.read()))
                else:
                    form.fields.setdefault(name, []).append(value)
    except HTTPException:
        raise errors.ValidationError("The file could not be read.") from None
    return form


def require_token(request: Request, form: Form) -> None:
    """Raise StaleForm for a form without the token of the visitor's session."""
    expected = authentication.expected_token(request)
    if not expected or not hmac.compare_digest(form.text(FIELD).encode(), expected.encode()):
        raise StaleForm


async def read_open_form(request: Request, page: str) -> Form:
    """Return the form that a visitor without a session posted from our own `page`. Raises Forbidden for another."""
    if not authentication.is_our_own(request):
        raise errors.Forbidden(f"This form was sent from another site; open {page} itself.")
    return await content(request)


async def content(request: Request) -> Form:
    """Return any form that was posted. Raises UnsupportedMediaType, PayloadTooLarge, BodyTooSlow, ValidationError."""
    if _READ not in request.scope:
        seconds = request.app.state.settings.body_seconds
        sent = await body.read_body(request.scope, request.receive, media_type=body.FORM, seconds=seconds)
        try:
            fields = parse_qs(sent.decode(), keep_blank_values=True, max_num_fields=MOST_FIELDS, errors="strict")
        except ValueError:
            raise errors.ValidationError.of("", "The form could not be read.") from None
        request.scope[_READ] = Form(fields, [])
    form: Form = request.scope[_READ]
    return form


def of_form(form: Form, model: type[body.Body] | None, *, currency: str = "") -> dict[str, Any]:
    """Return the fields of a model that a form sent, as the API accepts them; a box that is not ticked is false."""
    currency = form.text("currency") or currency
    is_flat = form.text("commission_type") == commission.CommissionType.FLAT
    sent: dict[str, Any] = {}
    for name, field in (model.model_fields if model else {}).items():
        kinds = _kinds(field.annotation)
        typed = form.text(name.removesuffix(CENTS))
        if bytes in kinds:
            sent[name] = b64encode(form.file).decode()
        elif list in kinds or tuple in kinds:
            sent[name] = _several(form, name, kinds)
        elif bool in kinds:
            sent[name] = typed == "true"
        elif name.removesuffix(CENTS) in form.fields:
            if not typed and NoneType in kinds:
                sent[name] = None
            elif _is_amount(name, is_flat=is_flat):
                sent[name] = text.minor(typed, currency)
            elif "password" in name:
                sent[name] = form.raw(name)
            elif (int in kinds or float in kinds) and (number := _NUMBER.fullmatch(typed)):
                sent[name] = float(typed) if number[1] else int(typed)
            else:
                sent[name] = typed
    return sent


def _several(form: Form, name: str, kinds: list[Any]) -> list[Any] | None:
    """Return the values of a field; of objects, each an id and a text, those of the fields `failed-12` with a text."""
    if list in kinds:
        values = [int(each) if int in kinds and each.isdecimal() else each for each in form.each(name)]
        return None if NoneType in kinds and not values else values
    rows = [(each.removeprefix(f"{name}-"), form.text(each)) for each in form.fields if each.startswith(f"{name}-")]
    numbered = [(int(row) if row.isdecimal() else row, text) for row, text in rows if text]
    return [dict(zip(kinds[1].model_fields, each, strict=True)) for each in numbered]


def parsed(form: Form, model: type[body.Parsed]) -> body.Parsed:
    """Return a form as a model. Raises ValidationError."""
    return body.parse(model, to_json(of_form(form, model)))


def of_settings(settings: Iterable[Setting], published: Mapping[str, Any], currency: str) -> dict[str, str]:
    """Return settings, as the API publishes them, as people would type them."""
    is_flat = published.get("commission_type") == commission.CommissionType.FLAT
    written = {}
    for each in settings:
        value = published[each.public_name]
        if _is_amount(each.public_name, is_flat=is_flat):
            value = text.major(value, currency)
        elif isinstance(value, list | tuple):
            value = " ".join(value)
        elif isinstance(value, bool):
            value = str(value).lower()
        written[each.form_name] = "" if value is None else str(value)
    return written


def _is_amount(name: str, *, is_flat: bool) -> bool:
    """Return whether people type a field of the API as an amount of money."""
    return name.endswith(CENTS) or (name == "commission_rate" and is_flat)


def _kinds(annotation: Any) -> list[Any]:
    """Return the types of which a type is made."""
    return [get_origin(annotation) or annotation, *(kind for each in get_args(annotation) for kind in _kinds(each))]
