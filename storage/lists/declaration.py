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

from sqlalchemy import BigInteger, ColumnElement, Connection, Date, FromClause, Table, bindparam, func, type_coerce

from storage.rules.periods.period import ALWAYS, Span, Window
from storage.rules.scope import Scope
from storage.tables.columns import Timestamp

MOST_ROWS = 20_000
DEFAULT_LIMIT, MOST = 50, 200
END_OF_TIME = datetime(9999, 12, 31, tzinfo=UTC)
Row = TypeVar("Row")

PROGRAM: Any = bindparam("program_id", type_=BigInteger)
NOW: Any = bindparam("now", type_=Timestamp)
UNTIL: Any = bindparam("until", type_=Timestamp)  # of what was earned; the end of time unless the scope says it
FIRST_DAY, LAST_DAY = (bindparam(name, type_=Date) for name in ("first_day", "last_day"))  # the window of the figures


class Column(NamedTuple):
    """A field's column on pages: its title (none: pages do not show it), whether it sorts, and is added up.

    `sql` is its expression (None: the table's column of that name). An amount is a field `..._cents`, in minor units of
    the row's `currency`, or of the program's if the row has none, or it is program money. Pages show the day of a
    moment that `is_day`. Only keys with the scope `needs` get the field; an internal one is for pages alone.
    """

    title: str = ""
    sql: Any = None
    sorts: bool = False
    is_summed: bool = False
    is_day: bool = False
    is_program_money: bool = False
    needs: Scope | None = None
    is_internal: bool = False


class Filter(NamedTuple):
    """A filter: a word of a StrEnum, a text, an id, yes or no, or a moment; `says` what it leaves, for API readers."""

    name: str
    kind: type
    says: str
    where: Callable[[Any], ColumnElement[bool]] | None = None  # of a list that has no reader of its own
    label: str = ""
    is_for_pages: bool = False  # the others name the same by another filter, or an order


class ListScope(NamedTuple):
    """What a caller may read, when, and the window of figures (None: all days).

    What was earned from `until` on is left out of what is due.
    Lists of a program are of `program_id`; the list of programs is of the workspaces, of those ids only unless None.
    A partner reads what is theirs, of the lists that say what partners see.
    """

    program_id: int
    at: datetime
    window: Window | None = None
    workspace_ids: Sequence[int] = ()
    program_ids: Sequence[int] | None = None
    partner_id: int | None = None
    until: datetime = END_OF_TIME


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
    """The requested page: `limit` rows after, or before, the row that `cursor` names, of those that match.

    A list is sorted by a column while at most 20,000 rows match. Totals cost as much, and are read if asked for.
    """

    limit: int = DEFAULT_LIMIT
    cursor: str | None = None
    order: Order = NEWEST_FIRST
    filters: Mapping[str, Any] = {}
    search: str | None = None
    span: Span = ALWAYS
    has_totals: bool = False


class Page(NamedTuple, Generic[Row]):
    """A page, the cursors of its neighbours (None: there is none), and the order that it has.

    `totals` has the number of all `rows` that match and the sums of their columns, `amounts` the sum of `amount_cents`
    in each currency; None if they were not asked for, or more than 20,000 rows match.
    """

    data: list[Row]
    next_cursor: str | None = None
    previous_cursor: str | None = None
    order: Order = NEWEST_FIRST
    totals: dict[str, int] | None = None
    amounts: Mapping[str, int] = {}


@dataclass(frozen=True)
class Field:
    """A field of a list's row: its type without None, its column, its SQL (None: `finish` fills it in)."""

    name: str
    kind: type
    column: Column
    sql: Any

    @cached_property
    def is_money(self) -> bool:
        """Whether it is an amount in minor units of a currency."""
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
            return func.coalesce(type_coerce(self.sql, BigInteger), 0)
        return func.coalesce(self.sql, 0) if self.kind is int else func.lower(func.coalesce(self.sql, ""))


@dataclass(frozen=True)
class List(Generic[Row]):
    """A list: what it and `one` of its rows are called, what it is `about`, its row, its table, and what narrows it.

    `at` is the time of a row, by which dates narrow the list; `search` returns the condition of a text in a program,
    and `finds` says what it is compared with. `source` joins the table with others, `mine` is what a scope may read.
    `only` leaves rows of the table out for every reader; partners read nothing of it unless it says what is `theirs`.
    `finish(connection, scope, rows)` completes the rows of a page; `skips` names columns that are too many to add up.
    `reader` reads a list that is of no one table. Lists that may lag are read from the replica, if there is one.
    """

    name: str
    title: str
    one: str
    about: str
    row: type[Row]
    table: Table
    at: Any = None
    source: FromClause | None = None
    filters: Sequence[Filter] = ()
    finds: str = ""
    search: Callable[[ListScope, str], ColumnElement[bool]] | None = None
    mine: Callable[[ListScope], ColumnElement[bool]] | None = None
    only: ColumnElement[bool] | None = None
    theirs: Theirs | None = None
    finish: Callable[[Connection, ListScope, list[Any]], list[Any]] | None = None
    skips: Callable[[Connection, ListScope], frozenset[str]] | None = None
    reader: Callable[[Connection, ListScope, ListQuery], Page[Any]] | None = None
    may_lag: bool = False
    has_window: bool = False

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
