"""Notices: a short message on the next page, from a cookie that has the name of a message and numbers, and its undo."""

import re
import tomllib
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

COOKIE = "svc_notice"
SECONDS = 60
_VALUE = re.compile(r"([a-z-]{1,32})((?:\.[0-9]{1,16}){0,3})")
UNDECIDED = " Not changed: {1}, because their status or their hold does not allow it."


class Undo(NamedTuple):
    """The form that undoes what a notice says: its path in the program, its fields, and its button."""

    path: str
    fields: Mapping[str, str]
    label: str


TEXTS = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
SENTENCES: dict[str, str] = TEXTS["sentences"]
UNDO = {name: Undo(**form) for name, form in TEXTS["undo"].items()}


def redirect(path: str, name: str = "", *numbers: int) -> Response:
    """Return a redirect to another page, also after a form was posted; the page shows a notice if one is named."""
    response = RedirectResponse(path, status_code=303)
    if name:
        value = ".".join([name, *map(str, numbers)])
        response.set_cookie(COOKIE, value, max_age=SECONDS, httponly=True, samesite="lax")
    return response


def waiting(request: Request) -> dict[str, Any] | None:
    """Return the visitor's waiting notice; `good` is False if something was not done."""
    sent = _VALUE.fullmatch(request.cookies.get(COOKIE, ""))
    if sent is None or sent[1] not in SENTENCES:
        return None
    name, numbers = sent[1], sent[2].split(".")[1:]
    sentence = SENTENCES[name]
    left = "{0}" in sentence and numbers[1:2] not in ([], ["0"])
    undo = None
    try:
        text = (sentence + (UNDECIDED if left and "{1}" not in sentence else "")).format(*numbers)
    except IndexError:
        return None
    with suppress(KeyError, IndexError):  # without all numbers nothing was done, or it cannot be undone
        path, fields, label = UNDO[name]
        filled = {field: value.format(*numbers) for field, value in fields.items()}
        undo = Undo(path.format(*numbers), filled, label)
    return {"text": text, "good": not left and not name.startswith("nothing"), "undo": undo}
