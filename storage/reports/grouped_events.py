"""One read of a program's events for several groupings at once, up to a bound: the totals by each, after filters."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple

from sqlalchemy import Connection, and_, case, func, null, or_, select

from storage.engine.expressions import CARRIED, ContainsText, JsonField, PlainLower, sums_by_each
from storage.reports import breakdown_events, performance
from storage.reports.performance import ReportScope
from storage.rules.click_details import quoted
from storage.rules.errors import ValidationError
from storage.rules.reports.breakdown import (
    LABELS,
    NOTHING,
    OF_BUYERS,
    OF_DAY,
    Dimension,
    DimensionFilter,
    Filters,
    GroupTotals,
    Operator,
)
from storage.tables import clicks, customers, partners
from storage.tables.columns import DAY_MILLIS, HOUR_MILLIS

MOST_EVENTS = 1_000_000  # of each kind, see docs/decisions/0029-breakdowns.md
MOST_GROUPS = 100_000
ACCEPTING_NONE = {(Operator.IS, True), (Operator.IS_NOT, False)}  # filters that pass events without the dimension
Key = tuple[Dimension, ...]  # one or some
Codes = Mapping[int, tuple[str, str]]  # of partners: their code and their name
Sums = dict[Key, dict[tuple[Any, ...], list[int]]]  # by the stored values of a key, in the order of GroupTotals


class Grouped(NamedTuple):
    """Totals by the stored values of a key; `rest` has those of values that are not stored, and of the last events."""

    groups: Mapping[tuple[Any, ...], GroupTotals]
    rest: GroupTotals = NOTHING


def read_by_each(
    connection: Connection, scope: ReportScope, keys: Sequence[Key], filters: Filters, *, most: int | None = None
) -> dict[Key, Grouped]:
    """Return the totals of a window by each key. Raises ValidationError for too many events of a kind, or groups."""
    sums = no_sums(keys)
    filtered = [each.dimension for each in filters]
    codes = read_codes(connection, scope.program_id) if Dimension.PARTNER in filtered else {}
    for events in breakdown_events.list_kinds(scope.program_id, scope.window):
        read = sums
        if events.table is clicks:  # they lack what only buyers have: the report has their number
            lacking = [key for key in keys if {*key, *filtered} <= {*OF_BUYERS}]
            read = {key: groups for key, groups in sums.items() if key not in lacking}
            if lacking and all((each.operator, each.value is None) in ACCEPTING_NONE for each in filters):
                reported = performance.read_days(connection, scope).values()
                for key in lacking:
                    sums[key][(None,) * len(key)][0] += sum(day.clicks for day in reported)
        if read:
            bound = most or MOST_EVENTS
            some = select(events.table.c.program_id).where(*events.near).limit(bound + 1).subquery()
            if connection.execute(select(func.count()).select_from(some)).scalar_one() > bound:
                wrong = f"Too many events: at most {bound:,} of a kind are read. Choose a shorter one"
                raise ValidationError.of("period", wrong)
            own = own_columns(events)
            wanted = [_condition(own.get(each.dimension), _carried(events), each, codes) for each in filters]
            wanted += [] if scope.partner_id is None else [own[Dimension.PARTNER] == scope.partner_id]
            add(connection, events, read, [*events.inside(scope.window), *wanted])
    return {
        key: Grouped({values: GroupTotals(*totals) for values, totals in groups.items()})
        for key, groups in sums.items()
    }


def read_codes(connection: Connection, program_id: int) -> Codes:
    """Return the code and the name of each partner."""
    row = partners.c
    enrolled = select(row.id, row.code, row.name).where(row.program_id == program_id)
    return {each.id: (each.code, each.name) for each in connection.execute(enrolled)}


def no_sums(keys: Iterable[Key]) -> Sums:
    """Return where events can be added."""
    return {key: defaultdict(lambda: [*NOTHING]) for key in keys}


def add(connection: Connection, events: breakdown_events.CountableEvents, sums: Sums, where: Sequence[Any]) -> None:
    """Add the events of a kind, under conditions, to the sums of each key. Raises ValidationError."""
    own, into = own_columns(events), list(sums.values())
    columns = [own[each].label(each) for each in dict.fromkeys(chain(*sums)) if each in own]
    amounts = [amount.label(name) for name, amount in events.amounts.items()]
    carried = clicks.c.dimensions.label(CARRIED)
    rows = select(*columns, carried, *amounts).select_from(events.source).where(*where)
    places = [GroupTotals._fields.index(name) for name in events.amounts]
    for key, values, counts in sums_by_each(connection, rows, [*sums], [*events.amounts], most=MOST_GROUPS + 1):
        totals = into[key][values]
        for place, count in zip(places, counts, strict=True):
            totals[place] += int(count)
    if any(len(groups) > MOST_GROUPS for groups in into):
        wrong = f"Too many groups: at most {MOST_GROUPS:,} are read. Filter them, or shorten the period"
        raise ValidationError.of("by", wrong)


def own_columns(events: breakdown_events.CountableEvents) -> Mapping[Dimension, Any]:
    """Return the columns of what an event has itself; all else its click carries as JSON."""
    return {
        **dict.fromkeys(OF_BUYERS, null()),
        **events.own,
        **{each: number(events.millis // DAY_MILLIS) for each, number in OF_DAY.items()},
        Dimension.PARTNER: events.table.c.partner_id,
        Dimension.REFERRER: _carried(events, clicks.c.referrer_host),
        Dimension.HOUR: events.millis // HOUR_MILLIS % 24,
    }


def _carried(events: breakdown_events.CountableEvents, column: Any = clicks.c.dimensions) -> Any:
    """Return a column of an event's click, as a part of the join: PostgreSQL must not filter all clicks by it first."""
    is_joined = customers.c.click_id == clicks.c.click_id
    return column if events.table is clicks else case((is_joined, column))


def _condition(own: Any, carried: Any, wanted: DimensionFilter, codes: Codes) -> Any:
    """Return a filter's condition on an own column, else on the click's JSON, parsed only where it has the text."""
    dimension, operator, value = wanted
    text, is_contained = str(value).lower(), operator == Operator.CONTAINS
    if dimension == Dimension.PARTNER:
        by_code, by_name = ([each for each, names in codes.items() if names[n] == value] for n in (0, 1))
        containing = [each for each, names in codes.items() if text in "\n".join(names).lower()]
        found = own.in_(containing if is_contained else by_code or by_name)
        return ~found if operator == Operator.IS_NOT else found
    if is_contained and dimension in LABELS:
        return own.in_([number for number, name in enumerate(LABELS[dimension]) if text in name.lower()])
    stored = JsonField(carried, dimension) if own is None else own
    if value is None:
        return stored.is_(None) if operator == Operator.IS else stored.is_not(None)
    exact = {
        Operator.IS: stored == value,
        Operator.IS_NOT: or_(stored.is_(None), stored != value),
        Operator.CONTAINS: ContainsText(func.lower(stored), text),
    }[operator]
    if own is not None:
        return exact
    written = quoted(value)[1:-1]
    if is_contained:
        lowered = PlainLower(carried) if written.isascii() else func.lower(carried)
        return and_(ContainsText(lowered, written.lower()), exact)
    there = ContainsText(carried, written)
    return and_(there, exact) if operator == Operator.IS else or_(~there, exact)
