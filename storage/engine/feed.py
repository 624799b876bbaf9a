"""The feed of changes: what each transaction changed, in one order for each program, written last and never skipped.

Operations note what they change; the note costs no statement. Before the commit the transaction adds the notes to its
programs' counters, whose rows it locks after all others and in order, and stores them under the next numbers. So the
numbers are in the order of the commits: who sees one sees all before it, and a rollback leaves no gap.
"""

import json
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import Connection

from storage.engine.statements import Statement
from storage.tables.columns import to_millis

MOST_IDS = 10  # of what a row of the feed counts
NOTES = "notes of the feed"
_advance = Statement("change_counter_add")
_insert = Statement("change_insert")


class Note(NamedTuple):
    program_id: int
    kind: str  # `noun.verb`
    at: datetime
    subject_id: int | str | None = None
    label: str = ""  # what further distinguishes the kind, such as an error code
    cents: int = 0  # of the program's currency


def note(connection: Connection, notes: Iterable[Note]) -> None:
    """Note changes of the running transaction; outside of the writer's transactions there is no feed."""
    if (noted := connection.info.get(NOTES)) is not None:
        noted.extend(notes)


def forget(connection: Connection, program_ids: Collection[int]) -> None:
    """Forget what was noted of programs that the running transaction deletes: no one can read their feeds any more."""
    notes: list[Note] = connection.info.get(NOTES) or []
    notes[:] = [each for each in notes if each.program_id not in program_ids]


@contextmanager
def undone_on_error(notes: list[Note]) -> Iterator[None]:
    """Forget what the block noted if it raises, as its savepoint is rolled back."""
    before = len(notes)
    try:
        yield
    except BaseException:
        del notes[before:]
        raise


def save(connection: Connection, notes: Sequence[Note]) -> None:
    """Store a transaction's notes, one row for each program, kind and label. Its last statements, two for any batch."""
    merged: dict[tuple[int, str, str], list[Any]] = {}
    ends: dict[int, list[int]] = {}  # how many rows a program gets, and the time of the last
    for program_id, kind, at, subject_id, label, cents in notes:
        row = merged.get((program_id, kind, label))
        if row is None:
            row = merged[program_id, kind, label] = [0, 0, []]
            end = ends.setdefault(program_id, [0, 0])
            end[:] = [end[0] + 1, max(end[1], to_millis(at))]
        row[0] += 1
        row[1] += cents
        if subject_id is not None and len(row[2]) < MOST_IDS:
            row[2].append(str(subject_id))
    places = {}
    for row in _advance(connection, [(each, *ends[each]) for each in sorted(ends)]):
        places[row.program_id] = [row.seq - ends[row.program_id][0], row.at]
    rows = []
    for (program_id, kind, label), (number, cents, ids) in sorted(merged.items()):
        place = places[program_id]
        place[0] += 1
        rows.append((program_id, place[0], kind, label, number, cents, json.dumps(ids), place[1]))
    _insert(connection, rows)
