"""What every published model is made from: a view, built from a row; in the OpenAPI document without that suffix."""

import re
from typing import Any, Generic, Literal, Self, TypeVar

from pydantic import BaseModel, ConfigDict

from storage.engine.pagination import Page
from web.response import ModelResponse


def published_name(name: str) -> str:
    """Return a model's name as readers know it: `Partner` for `PartnerView`, `PartnerPage` for a page of them."""
    words = [word.removesuffix("View") for word in re.split(r"[^A-Za-z0-9]+", name) if word]
    return "".join(reversed(words))


class View(BaseModel):
    """An object that a response holds."""

    model_config = ConfigDict(model_title_generator=lambda model: published_name(model.__name__))

    @classmethod
    def of(cls, row: Any) -> Self:
        """Return the view of a row: the fields that it names, and no others."""
        return cls.model_validate(row, from_attributes=True)


Item = TypeVar("Item", bound=View)


class PageView(View, Generic[Item]):
    """A page, newest first; `next_cursor` asks for the next one, null on the last."""

    data: list[Item]
    next_cursor: str | None


class SuccessView(View):
    """It is done."""

    success: Literal[True]


def page(stored: Page[Any], view: type[Item]) -> ModelResponse[PageView[Item]]:
    """Return a page of rows as the response to a list."""
    return ModelResponse(PageView(data=[view.of(row) for row in stored.data], next_cursor=stored.next_cursor))
