"""Operations: handlers with their description for the OpenAPI document, and the routes that serve them."""

import re
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Generic, NamedTuple, TypeVar, get_args, get_origin, get_type_hints

from pydantic import BaseModel
from starlette.requests import Request
from starlette.routing import BaseRoute, Route

from presentation.view import PageView
from storage.rules.errors import (
    InternalError,
    InvalidJson,
    NotFound,
    OutcomeUnknown,
    Overloaded,
    PayloadTooLarge,
    ServiceError,
    StorageUnavailable,
    UnsupportedMediaType,
    ValidationError,
)
from web.response import JsonResponse, ModelResponse

Request_contra = TypeVar("Request_contra", contravariant=True)
Model = type[BaseModel]
Error = type[ServiceError]
Requirement = Mapping[str, Sequence[str]]  # a credential, and the scopes or roles that it needs
ANYONE: Requirement = MappingProxyType({})
EMPTY: Mapping[Any, Any] = MappingProxyType({})
ALWAYS: tuple[Error, ...] = (InternalError, Overloaded, StorageUnavailable, OutcomeUnknown)
BODY: tuple[Error, ...] = (InvalidJson, ValidationError, PayloadTooLarge, UnsupportedMediaType)
PAGING = {"limit": "Rows on a page, 1 to 200; 50 by default.", "cursor": "`next_cursor` of the previous page."}
JSON = "application/json"
_IDS = re.compile(r"{(\w+_id)}")


class Description(NamedTuple):
    """An operation's entry in the document.

    `responses` names the models of each good status (none: no JSON body); `errors` the errors that it returns, besides
    what follows from a body, a page or an id in the path.
    `security` lists the alternative credentials. `query` and `headers` describe optional parameters;
    `response_headers` are names of `presentation.openapi.HEADERS`. `media` is the type of a good response.
    """

    name: str
    summary: str
    responses: Mapping[int, Sequence[Model]]
    errors: tuple[Error, ...] = ()
    body: Model | None = None
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


@dataclass
class Operation(Generic[Request_contra]):
    """A handler with its description; an app calls the handler with its own request type."""

    handler: Callable[[Request_contra], Awaitable[JsonResponse]]
    description: Description


def operation(
    summary: str, *errors: Error, **options: Any
) -> Callable[[Callable[[Request_contra], Awaitable[JsonResponse]]], Operation[Request_contra]]:
    """Describe a handler; the operation has its name, and the model in its return type is documented."""

    def described(handler: Callable[[Request_contra], Awaitable[JsonResponse]]) -> Operation[Request_contra]:
        status, models = _returned(handler)
        paging = PAGING if any(issubclass(model, PageView) for model in models) else {}
        query = {**paging, **options.pop("query", {})}
        first, *rest = handler.__name__.split("_")
        name = first + "".join(word.title() for word in rest)
        description = Description(name, summary, {status: models}, (*errors, *ALWAYS), query=query, **options)
        return Operation(handler, description)

    return described


class DescribedRoute(Route):
    """A route with the description of each of its methods."""

    def __init__(self, path: str, endpoint: Any, **descriptions: Description) -> None:
        super().__init__(path, endpoint, methods=list(descriptions))
        self.descriptions = {method: _complete(path, each) for method, each in descriptions.items()}


def route(path: str, **operations: Operation[Request]) -> DescribedRoute:
    """Return one route with an operation for each method, so that a 405 lists them all."""

    async def endpoint(request: Request) -> JsonResponse:
        return await operations["GET" if request.method == "HEAD" else request.method].handler(request)

    return DescribedRoute(path, endpoint, **{method: each.description for method, each in operations.items()})


def described(routes: Sequence[BaseRoute]) -> Iterator[tuple[str, str, Description]]:
    """Yield the path, the method and the description of every operation that these routes serve."""
    for each in routes:
        if isinstance(each, DescribedRoute):
            yield from ((each.path, method, description) for method, description in each.descriptions.items())


def _returned(handler: Callable[..., Any]) -> tuple[int, tuple[Model, ...]]:
    """Return the status and the models of a handler's `ModelResponse[...]`."""
    returns = get_type_hints(handler)["return"]
    response = get_origin(returns)
    assert issubclass(response, ModelResponse), f"{handler.__name__} returns no model"  # noqa: S101 - when it is defined
    (model,) = get_args(returns)
    return response.success, (model,) if isinstance(model, type) else get_args(model)


def _complete(path: str, description: Description) -> Description:
    """Add the errors that follow from the body and the path; a NUL in the URL is a ValidationError."""
    by_id = (NotFound,) if set(_IDS.findall(path)) - {"program_id"} else ()
    body = BODY if description.body else ()
    errors = dict.fromkeys([*description.errors, *by_id, *body, ValidationError])
    return description._replace(errors=tuple(errors))
