"""Actions: a change declared once, as `async def change(call, sent: Body) -> response`, for an endpoint and for forms.

    @action("Invite a person to a workspace", notice="invited")
    async def invite(call: WorkspaceRequest, sent: Invitee) -> CreatedResponse[NewInvitationView]: ...

The signature is the declaration: `sent` is the input model (a change without input has none), the type of `call` says
who may do it; the storage operation checks rights and money. A route serves the action as any operation. A form submits
its fields: the same model parses them, so that an error names the same field on the page and in `fields`.
"""

import re
from collections.abc import Awaitable, Callable, Mapping
from types import NoneType
from typing import Any, Concatenate, TypeVar, get_args, get_type_hints

from pydantic_core import to_json

from presentation.api_request import ApiRequest
from presentation.operations import ALWAYS, Description, Error, Operation, operation
from web import body
from web.body import Body
from web.response import JsonResponse

Call = TypeVar("Call", bound=ApiRequest)
Perform = Callable[..., Awaitable[JsonResponse]]
_INTEGER = re.compile(r"-?[0-9]{1,18}")


class Action(Operation[Call]):
    """A change that an endpoint and forms make alike.

    `notice` names the sentence on the next page; without one, the page of the form shows the response.
    """

    def __init__(self, perform: Perform, description: Description, sent: type[Body] | None, notice: str) -> None:
        super().__init__(self._receive, description)
        self._perform = perform
        self._sent = sent
        self.notice = notice

    def taking(self, sent: type[Body], *errors: Error) -> "Action[Call]":
        """Return the same change for others, who send another model and may get more errors."""
        description = self.description._replace(body=sent, errors=(*errors, *self.description.errors))
        return Action(self._perform, description, sent, self.notice)

    @property
    def errors(self) -> tuple[Error, ...]:
        """The errors of this change, which its page shows; those of any request are not among them."""
        return tuple(each for each in self.description.errors if each not in ALWAYS)

    def fields_of(self, typed: Mapping[str, str]) -> dict[str, Any]:
        """Return a form's fields as the endpoint accepts them: whole numbers as such, an empty optional one as null."""
        fields = self._sent.model_fields if self._sent else {}
        return {name: _value(field.annotation, typed[name]) for name, field in fields.items() if name in typed}

    async def submit(self, call: Call, fields: Mapping[str, Any]) -> Mapping[str, Any]:
        """Make the change with a form's values. Return the endpoint's response; raises its errors."""
        response = await self._perform(call, *([body.parse(self._sent, to_json(fields))] if self._sent else []))
        return response.body

    async def _receive(self, call: Call) -> JsonResponse:
        return await self._perform(call, *([await call.parse(self._sent)] if self._sent else []))


def action(
    summary: str, *errors: Error, notice: str = "", **options: Any
) -> Callable[[Callable[Concatenate[Call, ...], Awaitable[JsonResponse]]], Action[Call]]:
    """Declare a change by its function: `sent` is what it takes, the model in its return type what it responds with."""

    def declared(perform: Callable[Concatenate[Call, ...], Awaitable[JsonResponse]]) -> Action[Call]:
        sent = get_type_hints(perform).get("sent")
        description = operation(summary, *errors, body=sent, **options)(perform).description
        return Action(perform, description, sent, notice)

    return declared


def _value(kind: Any, typed: str) -> Any:
    kinds = {kind, *get_args(kind), *(part for each in get_args(kind) for part in get_args(each))}
    if not typed and NoneType in kinds:
        return None
    return int(typed) if int in kinds and _INTEGER.fullmatch(typed) else typed
