"""Pages with forms: the fields become an action's input; errors appear beside them, a notice on the next page."""

import tomllib
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from starlette.requests import Request
from starlette.responses import Response

from presentation.api_request import ApiRequest
from presentation.operations import ALWAYS, EMPTY, Operation
from storage.access.workspaces import ANYONE, OWNERS, Role, require
from storage.lists.commissions import Commission
from storage.lists.declaration import MOST
from storage.management.commission_decisions import Waiting
from storage.rules.errors import NotFound, ServiceError, ValidationError
from tracking_api.dashboard.authentication import VisitorRequest
from tracking_api.dashboard.pages import forms, notices, page_context, templates
from tracking_api.dashboard.pages.forms import CONFIRMED, FIELD, Form

Notice = str | Callable[[Any, Mapping[str, Any]], str]


class Question(NamedTuple):
    """What is asked: its title is the button's verb with what it is about, or how many commissions are worth what.

    `rows` are those that a person selected. What `is_tried` shows the response of a dry run: what becomes of rejected
    calls.
    """

    verb: str
    text: str
    about: str = ""
    commissions: Waiting | None = None
    rows: Sequence[Commission] = ()
    replay: Mapping[str, Any] | None = None
    is_tried: bool = False
    is_danger: bool = True


_TEXTS = tomllib.loads(Path(__file__).with_name("questions.toml").read_text(encoding="utf-8"))
QUESTIONS = {name: Question(**asked) for name, asked in _TEXTS.items()}

Asked = Question | Callable[[Sequence[Any]], Awaitable[Question]]


class Button(NamedTuple):
    """What a button does: its action, with values that it fixes, and the notice on the page that follows.

    `notice` (empty: the action's) and `then`, that page's path (empty: the form's), name fields of the response and ids
    of the path, `partner-{status}.{id}`; a notice may be a function of the call and the response. What is final asks a
    `question`, which the calls (one, or one for each row) may decide, or has a box to tick: `unticked` says so. After
    what only `is_trial`, the form keeps what was typed. Members with one of the `roles` press it (none: the page's).
    """

    action: Operation[Any]
    fixed: Mapping[str, Any] = EMPTY
    notice: Notice = ""
    then: str = ""
    question: Asked | None = None
    unticked: str = ""
    is_trial: bool = False
    roles: Collection[Role] = ()


class FormOutcome(NamedTuple):
    """What a page shows of the form that was sent: what was wrong with it and what was typed, or the response."""

    problems: Mapping[str, str] = EMPTY
    typed: Mapping[str, str] = EMPTY
    response: Mapping[str, Any] = EMPTY
    pressed: str = ""

    def page(self, viewer: Any, template: str, *, stored: Mapping[str, Any] = EMPTY, **values: Any) -> Response:
        """Return the page that shows this; its form has what is `stored` unless something was typed."""
        form = {**self._asdict(), "stored": stored, "typed": self.typed or stored}
        shown: dict[str, Any] = {**viewer.shown, **form, **values}
        return templates.render(viewer.request, template, **shown)


Render = Callable[[Any, FormOutcome], Awaitable[Response]]
Values = Callable[[Any, FormOutcome], Awaitable[Mapping[str, Any]]]


def drawn(template: str, values: Values) -> Render:
    """Return what draws a template with the values of a page."""

    async def render(viewer: Any, outcome: FormOutcome) -> Response:
        return outcome.page(viewer, template, **await values(viewer, outcome))

    return render


async def elsewhere(_: VisitorRequest, __: FormOutcome) -> Response:
    """Show nothing: the form is on another page, and an error is a page of its own."""
    raise NotFound


@dataclass(frozen=True)
class FormPage:
    """A page with forms. `render` shows it, and what became of a form.

    It has one button, or several by the value of the field `by`. `viewer` identifies who sees the page, and those with
    one of the `roles` press a button that says no others. Its actions change the program, or what `subject` returns.

    What the form of a row of a list does, it does for each selected row, too: a row's id is `row` in the path of its
    form. The notice is `said`, a dash and the button's value; it has the numbers of rows that change and that do not.
    """

    render: Render
    buttons: Mapping[str, Button] | Button
    by: str = "action"
    roles: Collection[Role] = OWNERS
    viewer: Callable[[Request, Collection[Role]], Awaitable[Any]] = page_context.as_member
    subject: Callable[[Any], ApiRequest] | None = None
    largest_file: int = 0
    row: str = ""
    said: str = ""

    async def show(self, request: Request) -> Response:
        """Show the page. Raises Forbidden."""
        return await self.render(await self.viewer(request, ANYONE), FormOutcome())

    async def press(self, request: Request) -> Response:
        """Do what the pressed button says and lead to the page that follows. Raises Forbidden, OwnerRequired."""
        buttons = [self.buttons] if isinstance(self.buttons, Button) else self.buttons.values()
        all_roles = {*self.roles, *(role for each in buttons for role in each.roles)}
        viewer = await self.viewer(request, all_roles)
        form = await forms.read_form(request, largest_file=self.largest_file)
        typed, pressed = forms.typed(form), form.text(self.by)
        button = self.button(pressed)
        if (roles := {*(button.roles or self.roles)}) != all_roles:
            require(viewer.role, roles)
        call = replace(self.subject(viewer) if self.subject else viewer, named=typed)
        if button.question and not is_confirmed(form):
            question, back = button.question, button.then.format_map(request.path_params) or request.url.path
            if isinstance(question, Question) and question.is_tried:
                dry = replace(call, storage=call.storage.dry_run)
                question = question._replace(replay=await _submit(button, dry, form, viewer))
            return await ask(viewer, form, question, back, [call])
        try:
            response = await _submit(button, call, form, viewer)
        except ServiceError as rejection:
            if self.render == elsewhere or isinstance(rejection, ALWAYS):
                raise
            return await self.render(viewer, FormOutcome(forms.problems_of(rejection), typed, pressed=pressed))
        notice = button.notice or button.action.notice
        known = {**response, **request.path_params}
        if not notice:
            shown = typed if button.is_trial else EMPTY
            return await self.render(viewer, FormOutcome(typed=shown, response=response, pressed=pressed))
        said = notice(call, response) if callable(notice) else notice.format_map(known)
        then = button.then.format_map(known) or request.url.path
        return notices.redirect(f"{then}?{request.url.query}".removesuffix("?"), said)

    async def press_selected(self, request: Request) -> Response:
        """Ask first if one row does, and lead back to the list. Raises the error of a row if none can be changed."""
        viewer = await self.viewer(request, self.roles)
        form = await forms.read_form(request)
        pressed = form.text(self.by)
        path = forms.path_of(request.url).replace("/selected", "", 1)
        button = self.button(pressed)
        chosen = list(dict.fromkeys(form.each("id")))[:MOST]
        calls = [replace(viewer, named=forms.typed(form) | {self.row: each}) for each in chosen]
        if not calls:
            return notices.redirect(path, "nothing-chosen")
        if button.question and not is_confirmed(form):
            return await ask(viewer, form, button.question, path, calls)
        rejections = []
        for call in calls:
            try:
                await _submit(button, call, form, viewer)
            except ServiceError as rejection:
                rejections.append(rejection)
                if isinstance(rejection, ALWAYS) or len(rejections) == len(calls):
                    raise
        return notices.redirect(path, f"{self.said}-{pressed}", len(calls) - len(rejections), len(rejections))

    def button(self, pressed: str) -> Button:
        """Return the button that was pressed. Raises ValidationError for none."""
        if isinstance(self.buttons, Button):
            return self.buttons
        if pressed not in self.buttons:
            raise ValidationError("This button does not exist.")
        return self.buttons[pressed]


async def _submit(button: Button, call: ApiRequest, form: Form, viewer: VisitorRequest) -> Mapping[str, Any]:
    """Make the change and return the response. Raises the errors of the action."""
    if button.unticked and not is_confirmed(form):
        raise ValidationError(button.unticked)
    if "repeated" in form.fields:
        forms.chosen_password(form)
    fields = forms.of_form(form, button.action.description.body, currency=viewer.currency)
    return await button.action.submit(call, fields | dict(button.fixed))


def is_confirmed(form: Form) -> bool:
    """Return whether the person has confirmed the form."""
    return form.text(CONFIRMED) == "yes"


async def ask(
    viewer: VisitorRequest, form: Form, question: Asked, back: str, calls: Sequence[ApiRequest] = ()
) -> Response:
    """Return the page that asks, whose button sends the same form again, confirmed."""
    question = await question(calls) if callable(question) else question
    sent = [(name, each) for name, typed in form.fields.items() for each in typed if name not in {FIELD, CONFIRMED}]
    address = forms.path_of(viewer.request.url)
    fields = [*sent, (CONFIRMED, "yes")]
    return FormOutcome().page(viewer, "confirm.html", question=question, fields=fields, address=address, back=back)
