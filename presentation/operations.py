"""Operations: what endpoints do, and forms of pages alike; their description for the OpenAPI document; their routes.

    @operation(RateLimited, notice="invited")
    async def invite(call: WorkspaceRequest, sent: Invitee) -> CreatedResponse[NewInvitationView]:
        ...

The function is the declaration. The type of `call` says who may do it; the storage operation checks rights and money.
`sent` is the input: a body, or the fields of a form, which the same model parses, so that an error names the same field
on the page and in `fields`. What it returns is the response: a view, a row or rows, which are shown as their views, or
None for `{"success": true}`.
"""

import re
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType, NoneType
from typing import Any, Concatenate, Generic, NamedTuple, TypeVar, cast, get_args, get_origin, get_type_hints

from pydantic import BaseModel
from pydantic_core import to_json
from starlette.requests import Request
from starlette.routing import BaseRoute, Route

from presentation.api_request import ApiRequest
from presentation.view import ListView, PageView, SuccessView, View, viewed
from storage.rules import errors
from web import body
from web.body import JSON, LARGEST_BODY, Body
from web.response import ContentResponse, JsonResponse, ModelResponse

Call = TypeVar("Call", bound=ApiRequest | Request)
Perform = Callable[Concatenate[Call, ...], Awaitable[Any]]
Model = type[BaseModel]
Error = type[errors.ServiceError]
Requirement = Mapping[str, Sequence[str]]  # a credential, and the scopes or roles that it needs
ANYONE: Requirement = MappingProxyType({})
EMPTY: Mapping[Any, Any] = MappingProxyType({})
ALWAYS: tuple[Error, ...] = (errors.InternalError, errors.Overloaded, errors.StorageUnavailable, errors.OutcomeUnknown)
BODY = (errors.InvalidJson, errors.ValidationError, errors.PayloadTooLarge, errors.UnsupportedMediaType)
PAGING = {"limit": "Rows on a page, 1 to 200; 50 by default.", "cursor": "`next_cursor` of the previous page."}
_IDS = re.compile(r"{(\w+_id)}")


class Description(NamedTuple):
    """An operation's entry in the document.

    `responses` names the models of each good status (none: no JSON body); `errors` the errors that it returns, besides
    what follows from a body, a page or an id in the path.
    `security` lists the alternative credentials. `query` and `headers` describe optional parameters;
    `response_headers` are names of headers in `presentation/openapi.toml`. `media` are the types of a good response.
    """

    name: str
    summary: str
    responses: Mapping[int, Sequence[Model]]
    errors: tuple[Error, ...] = ()
    body: type[Body] | None = None
    description: str = ""
    tag: str = "dashboard"
    security: Sequence[Requirement] = ()
    query: Mapping[str, str] = EMPTY
    headers: Mapping[str, str] = EMPTY
    response_headers: Sequence[str] = ()
    media: str = JSON

    def behind(self, *errors: Error, security: Sequence[Requirement], **changes: Any) -> "Description":
        """Return the description of the same operation with a credential, which adds its own errors."""
        return self._replace(errors=(*errors, *self.errors), security=security, **changes)


class RouteMethod(NamedTuple):
    """What serves a method of a route, with its description."""

    handler: Callable[[Any], Awaitable[JsonResponse]]
    description: Description


@dataclass(frozen=True)
class Operation(Generic[Call]):
    """What an endpoint and forms do alike, as `perform` does it with a body of at most `largest` bytes.

    `notice` names the sentence on the page after a form; without one, the page of the form shows the response.
    """

    perform: Perform[Call]
    description: Description
    notice: str = ""
    largest: int = LARGEST_BODY

    def taking(self, sent: type[Body], *errors: Error) -> "Operation[Call]":
        """Return the same operation for others, who send another model and may get more errors."""
        description = self.description._replace(body=sent, errors=(*errors, *self.description.errors))
        return replace(self, description=description)

    async def submit(self, call: Call, fields: Mapping[str, Any]) -> Mapping[str, Any]:
        """Do it with a form's values. Return the endpoint's response; raises its errors."""
        return (await self._respond(call, to_json(fields))).body

    async def handler(self, call: Call) -> JsonResponse:
        """Return the response to a request, whose body `request.state.body` is."""
        request = call.request if isinstance(call, ApiRequest) else call
        model, length = self.description.body, request.headers.get("content-length", "0")
        is_absent = length == "0" and "transfer-encoding" not in request.headers
        request.state.body = b"{}" if model and model.may_be_absent and is_absent else b""
        if model is not None and not request.state.body:
            request.state.body = await body.read_body(request.scope, request.receive, largest=self.largest)
        return await self._respond(call, request.state.body)

    async def _respond(self, call: Call, content: bytes | bytearray) -> JsonResponse:
        model: Any = self.description.body
        result = await self.perform(call, *([body.parse(model, content)] if model else []))
        if isinstance(result, JsonResponse):
            return result
        if not isinstance(result, View):
            ((view,),) = cast("Any", self.description.responses.values())
            whole = {"success": True} if result is None else {"data": result} if type(result) is list else result
            result = view.of(whole)
        return ModelResponse(result)


def operation(
    *errors: Error, notice: str = "", largest: int = LARGEST_BODY, **options: Any
) -> Callable[[Perform[Call]], Operation[Call]]:
    """Declare an operation by its function: its name, its docstring's first line, what it takes and what it returns."""

    def declared(perform: Perform[Call]) -> Operation[Call]:
        status, models = _returned(perform)
        paging = PAGING if any(issubclass(model, PageView) for model in models) else {}
        first, *rest = perform.__name__.split("_")
        description = Description(
            first + "".join(word.title() for word in rest),
            (perform.__doc__ or "").partition("\n")[0].removesuffix("."),
            {status: models},
            (*errors, *ALWAYS),
            **{"body": get_type_hints(perform).get("sent"), **options, "query": {**paging, **options.get("query", {})}},
        )
        return Operation(perform, description, notice, largest)

    return declared


class DescribedRoute(Route):
    """A route with the description of each of its methods, with the errors that follow from its body and the path."""

    def __init__(self, path: str, endpoint: Any, **descriptions: Description) -> None:
        super().__init__(path, endpoint, methods=list(descriptions))
        by_id = (errors.NotFound,) if set(_IDS.findall(path)) - {"program_id"} else ()
        self.descriptions = {}
        for method, each in descriptions.items():  # a NUL in the URL is a ValidationError
            of_body = BODY if each.body else ()
            all_errors = dict.fromkeys([*each.errors, *by_id, *of_body, errors.ValidationError])
            self.descriptions[method] = each._replace(errors=tuple(all_errors))


def route(path: str, **operations: RouteMethod | Operation[Request]) -> DescribedRoute:
    """Return one route with an operation for each method, so that a 405 lists them all."""

    async def endpoint(request: Request) -> JsonResponse:
        return await operations["GET" if request.method == "HEAD" else request.method].handler(request)

    return DescribedRoute(path, endpoint, **{method: each.description for method, each in operations.items()})


def described(routes: Sequence[BaseRoute]) -> Iterator[tuple[str, str, Description]]:
    """Yield the path, the method and the description of every operation that these routes serve."""
    for each in routes:
        if isinstance(each, DescribedRoute):
            yield from ((each.path, method, description) for method, description in each.descriptions.items())


def _returned(perform: Callable[..., Any]) -> tuple[int, tuple[Model, ...]]:
    returns: Any = get_type_hints(perform)["return"]
    origin, inner = get_origin(returns), get_args(returns)
    if returns is ContentResponse:
        return ModelResponse.success, ()
    if isinstance(origin, type) and issubclass(origin, ModelResponse):
        return origin.success, tuple(map(viewed, inner))
    list_view: Any = ListView
    model = SuccessView if returns is NoneType else list_view[viewed(inner[0])] if origin is list else viewed(returns)
    return ModelResponse.success, (model,)
