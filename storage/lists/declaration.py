"""What a list is: its rows with their columns, its filters and its search. A list is declared once, in its own file.

The row is a NamedTuple. A field is a column of the list's table, or says its SQL and how people see it by a `Column` in
its `Annotated` type. A field that is neither has a default, and `finish` fills it in for the rows of a page.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from functools import cached_property
from types import UnionType
from typing import Annotated, Any, Generic, NamedTuple, TypeVar, Union, get_args, get_origin, get_type_hints

from sqlalchemy import BigInteger, ColumnElement, Connection, Date, FromClause, Table, bindparam, func

from storage.rules.periods.period import ALWAYS, Span, Window
from storage.rules.scope import Scope
from storage.tables.columns import Timestamp, stored_millis

MOST_ROWS = 20_000
DEFAULT_LIMIT, MOST = 50, 200
END_OF_TIME = datetime(9999, 12, 31, tzinfo=UTC)
Row = TypeVar("Row")

PROGRAM: Any = bindparam("program_id", type_=BigInteger)
NOW: Any = bindparam("now", type_=Timestamp)
UNTIL: Any = bindparam("until", type_=Timestamp)  # of what was earned; the end of time unless the scope says it
FIRST_DAY, LAST_DAY = (bindparam(name, type_=Date) for name in ("first_day", "last_day"))  # the window of the figures


class Column(NamedTuple):
    """A field's column. An amount is a field `..._cents`, in minor units of the row's `currency`, or the program's."""

    title: str = ""  # none: pages do not show it
    sql: Any = None  # its expression; None: the table's column of that name
    sorts: bool = False
    is_summed: bool = False
    is_day: bool = False  # pages show the day of its timestamp
    is_program_money: bool = False  # an amount in the program's currency, although the row has another
    needs: Scope | None = None  # only keys with this scope get it
    is_internal: bool = False  # for pages alone


class Filter(NamedTuple):
    """A filter: a word of a StrEnum, a text, an id, yes or no, or a moment; `says` what it leaves, for API readers."""

    name: str
    kind: type
    says: str
    where: Callable[[Any], ColumnElement[bool]] | None = None  # of a list that has no reader of its own
    label: str = ""
    is_for_pages: bool = False  # the others name the same by another filter, or an order


class ListScope(NamedTuple):
    """What a caller may read, and when."""

    program_id: int
    at: datetime
    window: Window | None = None  # of the figures; None: of the day
    workspace_ids: Sequence[int] = ()  # those of which the list of programs is
    program_ids: Sequence[int] | None = None  # None: all programs of the workspaces
    partner_id: int | None = None  # who reads what is theirs, of the lists that say what partners see
    until: datetime = END_OF_TIME  # what was earned from then on is left out of what is due


class Theirs(NamedTuple):
    """What a partner sees of a list: the rows in which this column has their id, and these fields; others are None."""

    column: ColumnElement[Any]
    fields: str


class Order(NamedTuple):
    """The field by which a list is sorted; None is the time at which its rows were created."""

    column: str | None = None
    is_ascending: bool = False


NEWEST_FIRST = Order()


class ListQuery(NamedTuple):
    """The requested page: `limit` rows after, or before, the row that `cursor` names, of those that match."""

    limit: int = DEFAULT_LIMIT
    cursor: str | None = None
    order: Order = NEWEST_FIRST  # by a column only while at most MOST_ROWS match; totals cost as much
    filters: Mapping[str, Any] = {}
    search: str | None = None
    span: Span = ALWAYS
    has_totals: bool = False

    @property
    def is_added_up(self) -> bool:
        """Whether all rows that match are counted and added up, for their totals or because their order needs it."""
        return self.has_totals or self.order.column is not None


class Page(NamedTuple, Generic[Row]):
    """A page, the cursors of its neighbours (None: there is none), and the order that it has."""

    data: list[Row]
    next_cursor: str | None = None
    previous_cursor: str | None = None
    order: Order = NEWEST_FIRST
    totals: dict[str, int] | None = None  # the number of all rows and the sums of columns; None: not read, or too many
    amounts: Mapping[str, int] = {}  # the sum of `amount_cents` in each currency


@dataclass(frozen=True)
class Field:
    """A field of a list's row: its type without None, its column, its SQL (None: `finish` fills it in)."""

    name: str
    kind: type
    column: Column
    sql: Any

    @cached_property
    def is_money(self) -> bool:
        return self.name.endswith("_cents")

    @cached_property
    def written_as(self) -> str:
        """How pages write it: as a day, a timestamp, money, a number, a badge or text."""
        if self.kind is datetime:
            written = "day" if self.column.is_day else "timestamp"
        elif self.kind is int:
            written = "money" if self.is_money else "number"
        else:
            written = "badge" if issubclass(self.kind, StrEnum) else "text"
        return written

    @property
    def public_name(self) -> str:
        """What people call it in a URL or a file: an amount without its unit."""
        return self.name.removesuffix("_cents")

    @cached_property
    def sort_key(self) -> ColumnElement[Any]:
        """What the list is sorted by: texts in any case, nothing before something."""
        if self.kind is datetime:
            return func.coalesce(stored_millis(self.sql), 0)
        return func.coalesce(self.sql, 0) if self.kind is int else func.lower(func.coalesce(self.sql, ""))


@dataclass(frozen=True)
class List(Generic[Row]):
    """A list: its row, its table, and what narrows it. What people call it is made of its name unless it is said."""

    name: str
    row: type[Row]
    table: Table
    title: str = ""
    one: str = ""  # what one of its rows is called
    about: str = ""
    at: Any = None  # the time of a row, by which dates narrow the list
    source: FromClause | None = None  # the table joined with others
    filters: Sequence[Filter] = ()
    finds: str = ""  # what a text is compared with
    search: Callable[[ListScope, str], ColumnElement[bool]] | None = None
    mine: Callable[[ListScope], ColumnElement[bool]] | None = None  # what a scope may read; the program's by default
    only: ColumnElement[bool] | None = None  # all that any reader gets of the table
    theirs: Theirs | None = None  # what partners read; None: nothing
    finish: Callable[[Connection, ListScope, list[Any]], list[Any]] | None = None  # completes the rows of a page
    skips: Callable[[Connection, ListScope], frozenset[str]] | None = None  # columns that are too many to add up
    reader: Callable[[Connection, ListScope, ListQuery], Page[Any]] | None = None  # of a list that is of no one table
    may_lag: bool = False  # it is read from the replica, if there is one
    has_window: bool = False

    def __post_init__(self) -> None:
        plain = self.name.replace("-", " ")
        by_name = {"title": plain.capitalize(), "one": plain.removesuffix("s"), "about": f"The {plain}"}
        for word, default in by_name.items():
            object.__setattr__(self, word, getattr(self, word) or default)

    @cached_property
    def fields(self) -> tuple[Field, ...]:
        fields = []
        for name, hint in get_type_hints(self.row, include_extras=True).items():
            parts = list(parts_of(hint))
            column = next((part for part in parts if isinstance(part, Column)), Column())
            kind = next(part for part in parts if isinstance(part, type) and part is not type(None))
            sql = column.sql if column.sql is not None else self.table.c.get(name)
            fields.append(Field(name, kind, column, sql))
        return tuple(fields)

    @cached_property
    def columns(self) -> list[Field]:
        return [each for each in self.fields if each.column.title]

    @cached_property
    def sums(self) -> dict[str, Field]:
        return {each.name: each for each in self.fields if each.column.is_summed}

    @cached_property
    def sorts(self) -> dict[str, Field]:
        return {each.name: each for each in self.fields if each.column.sorts}

    def sort_of(self, column: Field) -> str | None:
        """Return the name by which a column sorts the list: none, and empty for its own order, by time."""
        if self.at is not None and column.sql is self.at:
            return ""
        return column.public_name if column.column.sorts else None


def parts_of(hint: Any) -> Iterator[Any]:
    """Yield the types of which a field's type consists, and what Annotated says about them."""
    if get_origin(hint) is Annotated:
        yield from hint.__metadata__
        yield from parts_of(get_args(hint)[0])
    elif get_origin(hint) in {Union, UnionType}:
        for part in get_args(hint):
            yield from parts_of(part)
    else:
        yield get_origin(hint) or hint
