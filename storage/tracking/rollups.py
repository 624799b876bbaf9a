"""Daily totals, so that a report reads days, not events; a task adds up those by dimension later (decision 0037)."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import date
from typing import Any, NamedTuple

from sqlalchemy import Connection, delete, insert, update

from storage.engine import audit
from storage.engine.database import insert_for
from storage.engine.statements import Statement
from storage.rules.reports.dimension_totals import STORED, DayStep, written
from storage.tables import dimension_rollups, grouped_days

GATHERED = "increments that are added later"
_add_to_programs = Statement("program_rollup_add")
_add_to_partners = Statement("partner_rollup_add")


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


@contextmanager
def gathered(connection: Connection) -> Iterator[list[Increment]]:
    """Add what the block adds at its end, all at once, so that no other row is locked after one of the rollups."""
    with audit.collected(connection, GATHERED) as steps:
        yield steps
    add(connection, steps)


def add(connection: Connection, steps: Iterable[Increment]) -> None:
    """Add increments to the rollups, last in a transaction and in key order, so that lanes never deadlock."""
    waiting: list[Increment] | None = connection.info.get(GATHERED)
    if waiting is not None:
        waiting.extend(steps)
        return
    by_program: Any = defaultdict(list)
    by_partner: Any = defaultdict(list)
    for program_id, partner_id, day, *counts in steps:
        by_program[program_id, day].append(counts)
        by_partner[program_id, day, partner_id].append(counts)
    if by_program:
        rows = [
            (program_id, str(day), *_sum(some), [clicks for clicks, *_ in some].count(0))
            for (program_id, day), some in sorted(by_program.items())
        ]
        partner_rows = [
            (program_id, str(day), partner_id, *_sum(some))
            for (program_id, day, partner_id), some in sorted(by_partner.items())
        ]
        _add_to_programs(connection, rows)
        _add_to_partners(connection, partner_rows)


def _sum(counts: list[list[int]]) -> Iterable[int]:
    return map(sum, zip(*counts, strict=True)) if counts[1:] else counts[0]


def save_by_dimension(connection: Connection, step: DayStep) -> bool:
    """Replace a day's totals; False, with nothing stored, if another process has grouped the day since."""
    own = {"program_id": step.program_id, "day": step.day}
    statement: Any
    if step.before is None:
        first = own | step.after._asdict() | {"phase": "open"}
        statement = insert_for(connection)(grouped_days).values(first).on_conflict_do_nothing()
    else:
        unchanged = [grouped_days.c[name] == value for name, value in (own | step.before._asdict()).items()]
        statement = update(grouped_days).where(*unchanged).values(step.after._asdict())
    if connection.execute(statement).rowcount != 1:
        return False
    row = dimension_rollups.c
    mine = (row.program_id == step.program_id, row.dimension.in_(STORED), row.day == step.day)
    connection.execute(delete(dimension_rollups).where(*mine))
    totals = [{"dimension": each.value, "totals": written(values)} for each, values in step.totals.items()]
    connection.execute(insert(dimension_rollups), [own | each for each in totals])
    return True
