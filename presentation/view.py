"""Views: the models of responses, built from rows. The OpenAPI document leaves out the suffix View."""

import re
from collections.abc import Callable
from collections.abc import Set as AbstractSet
from functools import cache, reduce
from operator import or_
from types import UnionType
from typing import Any, Generic, Literal, Self, TypeVar, get_args, get_origin, get_type_hints

from pydantic import BaseModel, ConfigDict, create_model

from storage.lists.declaration import Column, parts_of


def published_name(name: str) -> str:
    """Return a model's name in the OpenAPI document: `Partner` for `PartnerView`, `PartnerPage` for a page of them."""
    words = [word.removesuffix("View") for word in re.split(r"[^A-Za-z0-9]+", name) if word]
    return "".join(reversed(words))


class View(BaseModel):
    """An object in a response."""

    model_config = ConfigDict(model_title_generator=lambda model: published_name(model.__name__), from_attributes=True)

    @classmethod
    def of(cls, row: Any) -> Self:
        """Return the view of a row: the fields that it names, and no others."""
        return cls.model_validate(row)


class PartnerNameView(View):
    """The partner who sent a customer."""

    id: int
    name: str
    code: str


Item = TypeVar("Item", bound=View)
Model = TypeVar("Model", bound=BaseModel)
OF_PARTNER = {"partner_id", "partner_name", "partner_code"}  # these columns of a row are its partner


class OfPartnerView(View):
    """An object of one partner."""

    partner: PartnerNameView

    @classmethod
    def of(cls, row: Any, **others: Any) -> Self:
        """Return the view of a row with its partner's name."""
        partner = {"id": row.partner_id, "name": row.partner_name, "code": row.partner_code}
        return cls.model_validate({**row._asdict(), **others, "partner": partner})


def with_fields_of(
    row: Any, *, leave_out: AbstractSet[str] = frozenset(), **views: Any
) -> Callable[[type[Model]], type[Model]]:
    """Return a decorator that gives a model the fields of a row's type, with their types, defaults and meaning.

    The rows in its fields are shown as their views, `views` as other types. A field of the model itself stays, and what
    is internal is left out. A field whose default is None may be absent.
    """

    def add(model: type[Model]) -> type[Model]:
        hints = get_type_hints(row, include_extras=True)
        columns = {name: part for name, hint in hints.items() for part in parts_of(hint) if isinstance(part, Column)}
        hidden = {*leave_out, *(OF_PARTNER if issubclass(model, OfPartnerView) else ())}
        hidden |= {name for name, column in columns.items() if column.is_internal}
        kinds = {name: kind for name, kind in get_type_hints(row).items() if name not in hidden}
        fields = {
            name: (viewed(kind), None if row._field_defaults.get(name, ...) is None else ...)
            for name, kind in kinds.items()
        }
        return with_fields(model, fields | {name: (kind, ...) for name, kind in views.items()}, about=row.__doc__)

    return add


def with_fields(model: type[Model], fields: dict[str, Any], *, about: str | None = None) -> type[Model]:
    """Return the model with the fields that it lacks, under its own name, described as it is or else by `about`."""
    lacking: dict[str, Any] = {name: field for name, field in fields.items() if name not in model.model_fields}
    doc, module = model.__doc__ or about, model.__module__
    return create_model(model.__name__, __base__=model, __doc__=doc, __module__=module, **lacking)


@cache
def view_of(row: Any) -> type[View]:
    """Return the model of a row's type: Customer of a ListedCustomer, with its partner's columns as one object."""
    base = OfPartnerView if set(row._fields) >= OF_PARTNER else View
    model = type(f"{row.__name__.removeprefix('Listed')}View", (base,), {"__module__": row.__module__, "__doc__": None})
    return with_fields_of(row)(model)


def viewed(kind: Any) -> Any:
    """Return a type in which each row's type is that of its view."""
    if hasattr(kind, "_field_defaults"):
        return view_of(kind)
    inner = tuple(map(viewed, get_args(kind)))
    if inner == get_args(kind):
        return kind
    return reduce(or_, inner) if isinstance(kind, UnionType) else get_origin(kind)[inner]


class TotalsView(View):
    """The number of all rows that match, the sums of columns, and the sums of amounts by currency."""

    rows: int
    sums: dict[str, int]
    amounts: dict[str, int]


class PageView(View, Generic[Item]):
    """A page, newest first unless `sort` says otherwise; `next_cursor` requests the next page, null on the last one.

    `totals` are there if they were requested; null if more than 20,000 rows match.
    """

    data: list[Item]
    next_cursor: str | None
    totals: TotalsView | None = None


class ListView(View, Generic[Item]):
    """A short list, whole."""

    data: list[Item]


class DataView(View, Generic[Item]):
    """One object."""

    data: Item


class SuccessView(View):
    """The request succeeded."""

    success: Literal[True]
