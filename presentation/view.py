"""Views: the models of responses, built from rows. The OpenAPI document leaves out the suffix View."""

import re
from collections.abc import Callable
from typing import Any, Generic, Literal, NamedTuple, Self, TypeVar, get_type_hints

from pydantic import BaseModel, ConfigDict, create_model

from storage.engine.pagination import Page
from web.response import ModelResponse


def published_name(name: str) -> str:
    """Return a model's name in the OpenAPI document: `Partner` for `PartnerView`, `PartnerPage` for a page of them."""
    words = [word.removesuffix("View") for word in re.split(r"[^A-Za-z0-9]+", name) if word]
    return "".join(reversed(words))


class View(BaseModel):
    """An object in a response."""

    model_config = ConfigDict(model_title_generator=lambda model: published_name(model.__name__))

    @classmethod
    def of(cls, row: Any) -> Self:
        """Return the view of a row: the fields that it names, and no others."""
        return cls.model_validate(row, from_attributes=True)


Item = TypeVar("Item", bound=View)
Model = TypeVar("Model", bound=BaseModel)


def with_fields_of(row: type[NamedTuple], **views: Any) -> Callable[[type[Model]], type[Model]]:
    """Return a decorator that gives a model the fields of a row's type, with their types and defaults.

    `views` are the types of fields that are shown as another type, such as a row's view; they have no default. A field
    that the model declares itself stays as it is.
    """
    defaults = row._field_defaults
    fields: dict[str, Any] = {name: (kind, defaults.get(name, ...)) for name, kind in get_type_hints(row).items()}
    fields |= {name: (kind, ...) for name, kind in views.items()}
    return lambda model: with_fields(
        model, {name: field for name, field in fields.items() if name not in model.model_fields}
    )


def with_fields(model: type[Model], fields: dict[str, Any]) -> type[Model]:
    """Return the model with more fields, under its own name."""
    return create_model(model.__name__, __base__=model, __doc__=model.__doc__, __module__=model.__module__, **fields)


class PageView(View, Generic[Item]):
    """A page, newest first; `next_cursor` requests the next page and is null on the last one."""

    data: list[Item]
    next_cursor: str | None


class SuccessView(View):
    """The request succeeded."""

    success: Literal[True]


def page(stored: Page[Any], view: type[Item]) -> ModelResponse[PageView[Item]]:
    """Return a page of rows as the response to a list."""
    return ModelResponse(PageView(data=[view.of(row) for row in stored.data], next_cursor=stored.next_cursor))
