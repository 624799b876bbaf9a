"""Asks before what is final: a page with the question, whose button sends the same form again, confirmed."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from starlette.requests import Request
from starlette.responses import Response

from storage.lists.commissions import Commission
from storage.management.pending_work import Waiting
from tracking_api.dashboard.pages import templates
from tracking_api.dashboard.pages.forms import FIELD, Form

CONFIRMED = "confirmed"


class Question(NamedTuple):
    """What is asked: `verb` is the button's, and with what it is `about`, or the `commissions`, it is the title.

    `text` says what becomes of it, `back` is the page to cancel to (of a button: empty for the
    one that follows). `rows` are added up for each partner.
    """

    verb: str
    text: str
    back: str = ""
    about: str = ""
    commissions: Waiting | None = None
    rows: Sequence[Commission] = ()
    is_danger: bool = True


def is_given(form: Form) -> bool:
    """Return whether the person has confirmed the form."""
    return form.text(CONFIRMED) == "yes"


def ask(request: Request, form: Form, question: Question, *, added: tuple[str, str] = ("", ""), **who: Any) -> Response:
    """Return the page that asks, with all that the form sent and a field that is `added`; `who` is who views it."""
    sent = [(name, each) for name, values in form.fields.items() for each in values if name not in {FIELD, CONFIRMED}]
    fields = [each for each in (*sent, added, (CONFIRMED, "yes")) if each[0]]
    address = request.url.path + (f"?{request.url.query}" if request.url.query else "")
    return templates.render(request, "confirm.html", question=question, fields=fields, address=address, **who)
