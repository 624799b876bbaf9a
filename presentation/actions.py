"""Actions: a change declared once, as `async def change(call, sent: Body) -> response`, for an endpoint and for forms.

    @action("Invite a person to a workspace", notice="invited")
    async def invite(call: WorkspaceRequest, sent: Invitee) -> CreatedResponse[NewInvitationView]: ...

The signature is the declaration: `sent` is the input model (a change without input has none), the type of `call` says
who may do it; the storage operation checks rights and money. A route serves the action as any operation. A form submits
its fields: the same model parses them, so that an error names the same field on the page and in `fields`.
"""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Concatenate, TypeVar, get_type_hints

from pydantic_core import to_json

from presentation.api_request import ApiRequest
from presentation.operations import Description, Error, Operation, operation
from web import body
from web.body import Body
from web.response import JsonResponse

Call = TypeVar("Call", bound=ApiRequest)
Perform = Callable[..., Awaitable[JsonResponse]]


class Action(Operation[Call]):
    """A change that an endpoint and forms make alike.

    `sent` is its input model. `notice` names the sentence on the next page; without one, the page of the form shows the
    response.
    """

    def __init__(self, perform: Perform, description: Description, sent: type[Body] | None, notice: str) -> None:
        super().__init__(self._receive, description)
        self._perform = perform
        self.sent = sent
        self.notice = notice

    def taking(self, sent: type[Body], *errors: Error) -> "Action[Call]":
        """Return the same change for others, who send another model and may get more errors."""
        description = self.description._replace(body=sent, errors=(*errors, *self.description.errors))
        return Action(self._perform, description, sent, self.notice)

    async def submit(self, call: Call, fields: Mapping[str, Any]) -> Mapping[str, Any]:
        """Make the change with a form's values. Return the endpoint's response; raises its errors."""
        response = await self._perform(call, *([body.parse(self.sent, to_json(fields))] if self.sent else []))
        return response.body

    async def _receive(self, call: Call) -> JsonResponse:
        return await self._perform(call, *([await call.parse(self.sent)] if self.sent else []))


def action(
    summary: str, *errors: Error, notice: str = "", **options: Any
) -> Callable[[Callable[Concatenate[Call, ...], Awaitable[JsonResponse]]], Action[Call]]:
    """Declare a change by its function: `sent` is what it takes, the model in its return type what it responds with."""

    def declared(perform: Callable[Concatenate[Call, ...], Awaitable[JsonResponse]]) -> Action[Call]:
        sent = get_type_hints(perform).get("sent")
        description = operation(summary, *errors, body=sent, **options)(perform).description
        return Action(perform, description, sent, notice)

    return declared
