"""Daily totals, incremented in the event's own transaction, so that a report reads days and never events."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from datetime import date, datetime
from typing import Any, NamedTuple

from sqlalchemy import BigInteger, Connection, Date

from storage.engine.statements import Parameters, Prepared, insert_parameters
from storage.tables import partner_rollups, rollups
from storage.tables.rollup import COUNTS


class Increment(NamedTuple):
    """What one event adds to its program's and its partner's day; reversals are negative."""

    program_id: int
    partner_id: int
    day: date
    clicks: int = 0
    leads: int = 0
    conversions: int = 0
    sales: int = 0
    revenue_cents: int = 0
    commission_cents: int = 0
    partners: int = 0


def day_of(at: datetime) -> date:
    """Return the UTC day of an aware timestamp."""
    return at.date()


def add(connection: Connection, steps: Iterable[Increment]) -> None:
    """Add increments to the rollups. Rows are locked in key order, so lanes never deadlock."""
    by_program: defaultdict[tuple[Any, ...], list[int]] = defaultdict(_zeros)
    by_partner: defaultdict[tuple[Any, ...], list[int]] = defaultdict(_zeros)
    changes: Counter[tuple[Any, ...]] = Counter()
    for item in steps:
        program, partner, day, *counts = item
        changes[program, day.isoformat()] += not item.clicks
        for totals in (by_program[program, day.isoformat()], by_partner[program, day.isoformat(), partner]):
            for index, count in enumerate(counts):
                totals[index] += count
    if by_program:
        _step_programs(connection, [[*key, *by_program[key], changes[key]] for key in sorted(by_program)])
        _step_partners(connection, [[*key, *by_partner[key]] for key in sorted(by_partner)])


def _zeros() -> list[int]:
    return [0] * len(COUNTS)


def _upsert(table: Any, *names: str, **keys: Any) -> Prepared:
    parameters = Parameters(**keys, **{name: BigInteger() for name in names})

    def build(insert: Callable[..., Any]) -> Any:
        statement = insert_parameters(insert, table, parameters)
        added = {name: table.c[name] + statement.excluded[name] for name in names}
        return statement.on_conflict_do_update(index_elements=list(keys), set_=added)

    return Prepared(build)


_step_programs = _upsert(rollups, *COUNTS, "changes", program_id=BigInteger(), day=Date())
_step_partners = _upsert(partner_rollups, *COUNTS, program_id=BigInteger(), day=Date(), partner_id=BigInteger())
