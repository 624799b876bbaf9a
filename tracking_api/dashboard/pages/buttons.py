"""Buttons: a form's fields become the input of an action; errors appear beside them, a notice on the next page."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Generic, NamedTuple, TypeVar

from starlette.requests import Request
from starlette.responses import Response

from presentation.actions import Action
from presentation.api_request import ApiRequest
from presentation.operations import ALWAYS, EMPTY
from storage.rules.errors import ServiceError, ValidationError
from tracking_api.dashboard.pages import confirmation, forms, notices, page_context, values
from tracking_api.dashboard.pages.confirmation import Question
from tracking_api.dashboard.pages.forms import Form, Problems
from tracking_api.dashboard.pages.page_context import PageContext

Call = TypeVar("Call", bound=ApiRequest)


Notice = str | Callable[[Mapping[str, Any]], str]


class Button(NamedTuple, Generic[Call]):
    """What a button does: its action, with values that it fixes, and the notice on the page that follows.

    `notice` (empty: the action's) and `then`, the path of that page (empty: the form's), name fields of the response
    and ids of the path: `partner-{status}.{id}`; or the notice is a function of the response. What is final asks a
    `question` first, or has a box to tick; `unticked` says so.
    """

    action: Action[Call]
    fixed: Mapping[str, Any] = EMPTY
    notice: Notice = ""
    then: str = ""
    question: Question | None = None
    unticked: str = ""


class FormOutcome(NamedTuple):
    """What a page shows of the form that was sent: what was wrong with it and what was typed, or the response."""

    problems: Problems = Problems()
    typed: Mapping[str, str] = EMPTY
    response: Mapping[str, Any] = EMPTY

    def shown(self, stored: Mapping[str, Any] = EMPTY) -> dict[str, Any]:
        """Return the values of the page's template; the form shows what is `stored` unless something was typed."""
        status = 400 if self.problems else 200
        return {"status": status, **self._asdict(), "typed": self.typed or stored}


@dataclass(frozen=True)
class FormPage:
    """A page of a program: members see it, owners press its buttons. `render` shows what became of a form.

    Its actions change the program, or what `subject` returns. The field `by` names the button of several.
    """

    render: Callable[[PageContext, FormOutcome], Awaitable[Response]]
    buttons: Mapping[str, Button[Any]] | Button[Any]
    subject: Callable[[PageContext], ApiRequest] | None = None
    largest_file: int = 0
    by: str = "action"

    async def show(self, request: Request) -> Response:
        """Show the page. Raises Forbidden."""
        return await self.render(await page_context.as_member(request), FormOutcome())

    async def press(self, request: Request) -> Response:
        """Do what the pressed button says. Raises Forbidden, OwnerRequired."""
        context = await page_context.as_owner(request)
        return await self.use(self.buttons, context)

    async def use(self, pressed: Mapping[str, Button[Any]] | Button[Any], context: PageContext) -> Response:
        """Do what a button says for an owner."""
        call = self.subject(context) if self.subject else context
        shown = partial(self.render, context)
        return await press(pressed, call, shown, largest_file=self.largest_file, by=self.by, context=context)


async def press(
    buttons: Mapping[str, Button[Call]] | Button[Call],
    call: Call,
    show: Callable[[FormOutcome], Awaitable[Response]] | None = None,
    *,
    largest_file: int = 0,
    by: str = "action",
    **viewer: Any,
) -> Response:
    """Do what the pressed button of a page says and lead to the page that follows.

    `show` shows what is wrong, or the response of an action without a notice; without it an error is a page of its own.
    The field `by` names the button of several. `viewer` is the page's `context` or `visitor`. Raises the errors of
    `forms.read_form`.
    """
    form = await forms.read_form(call.request, largest_file=largest_file)
    button, typed = named(buttons, form, by), forms.typed(form)
    call = replace(call, named=typed)
    if button.question and not confirmation.is_given(form):
        back = button.question.back or button.then.format_map(call.request.path_params) or call.request.url.path
        return confirmation.ask(call.request, form, button.question._replace(back=back), **viewer)
    try:
        if button.unticked and not confirmation.is_given(form):
            raise ValidationError(button.unticked)
        if "repeated" in form.fields:
            forms.chosen_password(form)
        currency = viewer["context"].currency if "context" in viewer else ""
        fields = values.of_form(form, button.action.sent, currency=currency)
        response = await button.action.submit(call, fields | dict(button.fixed))
    except ServiceError as rejection:
        if show is None or isinstance(rejection, ALWAYS):
            raise
        return await show(FormOutcome(Problems.of(rejection), typed))
    notice, known = button.notice or button.action.notice, {**response, **call.request.path_params}
    if show and not notice:
        return await show(FormOutcome(response=response))
    path = button.then.format_map(known) or call.request.url.path
    return notices.redirect(path, notice(response) if callable(notice) else notice.format_map(known))


def named(buttons: Mapping[str, Button[Call]] | Button[Call], form: Form, by: str = "action") -> Button[Call]:
    """Return the button of a page that was pressed. Raises ValidationError if it has no such button."""
    if isinstance(buttons, Button):
        return buttons
    if form.text(by) not in buttons:
        raise ValidationError("This button does not exist.")
    return buttons[form.text(by)]
