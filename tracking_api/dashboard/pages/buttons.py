"""Buttons: a form's fields become the input of an action; errors appear beside them, a notice on the next page."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Generic, NamedTuple, TypeVar

from starlette.responses import Response

from presentation.actions import Action
from presentation.api_request import ApiRequest
from presentation.operations import EMPTY
from storage.rules.errors import Forbidden, NotFound, ServiceError, ValidationError
from tracking_api.dashboard.pages import forms, notices
from tracking_api.dashboard.pages.forms import Form, Problems
from tracking_api.dashboard.pages.page import redirect

Call = TypeVar("Call", bound=ApiRequest)


class Button(NamedTuple, Generic[Call]):
    """What a button does: its action, with values that it fixes, and the notice afterwards (empty: the action's)."""

    action: Action[Call]
    fixed: Mapping[str, Any] = EMPTY
    notice: str = ""


class FormOutcome(NamedTuple):
    """What a page shows of the form that was sent: what was wrong with it and what was typed, or the response."""

    problems: Problems = Problems()
    typed: Mapping[str, str] = EMPTY
    response: Mapping[str, Any] = EMPTY


def named(buttons: Mapping[str, Button[Call]], form: Form) -> Button[Call]:
    """Return the button of a page that was pressed. Raises ValidationError if it has no such button."""
    if form.text("action") not in buttons:
        raise ValidationError("This button does not exist.")
    return buttons[form.text("action")]


async def press(
    button: Button[Call], call: Call, form: Form, show: Callable[[FormOutcome], Awaitable[Response]], *numbers: int
) -> Response:
    """Do what a button says and lead to the page again, with a notice about `numbers`; show what is wrong at once."""
    shown: tuple[type[ServiceError], ...] = (Forbidden, NotFound, *button.action.errors)
    typed = {name: form.raw(name) if "password" in name else form.text(name) for name in form.fields}
    try:
        if "repeated" in typed:
            forms.chosen_password(form)
        response = await button.action.submit(call, button.action.fields_of(typed) | dict(button.fixed))
    except ValidationError as rejection:
        return await show(FormOutcome(Problems.of(rejection), typed))
    except shown as rejection:
        return await show(FormOutcome(Problems({"": rejection.text}), typed))
    notice = button.notice or button.action.notice
    if not notice:
        return await show(FormOutcome(response=response))
    return notices.leave(redirect(call.request.url.path), notice, *numbers)
