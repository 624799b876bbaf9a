"""What changed in a program since a cursor: the feed's next rows in their order, and what they add up to.

The sums of any pages that follow each other are those of one page over all of their rows.
"""

import json
import tomllib
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

from sqlalchemy import Connection

from storage.engine import cursors
from storage.engine.recurring import CHANGE_DAYS
from storage.engine.statements import read_statement
from storage.rules.errors import BY_CODE, CursorExpired, CustomerNotFound
from storage.tables.columns import Timestamp

MOST_BYTES = 24 * 1024  # of a summary
_CHANGES, _LAST = read_statement("changes", at=Timestamp), read_statement("changes_last")
_ACTIONS = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))


class FeedEntry(NamedTuple):
    """What one transaction changed of one kind: the `number` of them, of which `ids` has the first ten.

    `label` tells a kind further apart: the error code of rejected calls, a lead's settlement, a payment's outcome.
    `cents` add up amounts of sales and refunds in the program's currency. `seq` has no gaps.
    """

    seq: int
    at: datetime
    kind: str
    label: str | None
    number: int
    cents: int
    ids: tuple[str, ...]


class FeedTotal(NamedTuple):
    """What the entries of one kind and label on a page add up to; the first and the last of them."""

    kind: str
    label: str | None
    number: int
    cents: int
    first_at: datetime
    last_at: datetime


class FeedAction(NamedTuple):
    """What a person or their agent has to do about some of the entries."""

    kind: str
    label: str | None
    number: int
    message: str


class FeedSummary(NamedTuple):
    """What needs an action, the most frequent first, then the sums of all entries of the page."""

    needs_action: list[FeedAction]
    totals: list[FeedTotal]


class FeedPage(NamedTuple):
    """A page of the feed, the oldest entry first. `cursor` is where it ends: read on from there, now or later.

    `next_cursor` is the same, and null once nothing follows the cursor that was sent.
    """

    summary: FeedSummary
    data: list[FeedEntry]
    next_cursor: str | None
    cursor: str


def read_changes(
    connection: Connection, program_id: int, *, cursor: str | None = None, limit: int = 50, at: datetime
) -> FeedPage:
    """Return what follows a cursor, or the oldest entries, as many as a summary of 24 KB has room for.

    Raises ValidationError; CursorExpired if what follows is gone.
    """
    edge = cursors.edge_of(cursor, int, int)
    since = edge.values[1] if edge else 0
    of = {"program_id": program_id, "seq": since, "since": at - timedelta(days=CHANGE_DAYS), "most": limit}
    found = connection.execute(_CHANGES, of)
    entries = [FeedEntry(*row)._replace(ids=tuple(json.loads(row.ids))) for row in found]
    first = entries[0].seq if entries else (connection.execute(_LAST, of).scalar() or 0) + 1
    if edge and (edge.values[0] != program_id or first != since + 1):
        raise CursorExpired
    while len(repr(summary := summary_of(entries))) > MOST_BYTES:  # longer than its JSON
        entries = entries[: len(entries) // 2]
    end = cursors.encode([0, program_id, entries[-1].seq if entries else first - 1])
    return FeedPage(summary, entries, end if entries else None, end)


def summary_of(entries: Sequence[FeedEntry]) -> FeedSummary:
    """Return what entries add up to."""
    totals: dict[tuple[str, str], FeedTotal] = {}
    for each in entries:
        key = (each.kind, each.label or "")
        so_far = totals.get(key) or FeedTotal(each.kind, each.label, 0, 0, each.at, each.at)
        number, cents = so_far.number + each.number, so_far.cents + each.cents
        totals[key] = so_far._replace(number=number, cents=cents, last_at=each.at)
    ordered = [totals[key] for key in sorted(totals)]
    return FeedSummary(sorted(_actions(ordered), key=lambda each: -each.number), ordered)


def _actions(totals: Iterable[FeedTotal]) -> Iterable[FeedAction]:
    for kind, label, number, _, first_at, _ in totals:
        about: dict[str, Any] = {"number": number, "since": f"{first_at:%Y-%m-%d %H:%M} UTC"}
        call, _, verb = kind.partition(".")
        is_organic = call == "sale" and label == CustomerNotFound.code
        message = _ACTIONS["kinds"].get(kind) or _ACTIONS["payments"].get(label if call == "payment" else "")
        if verb == "reject" and not is_organic and call in _ACTIONS["calls"]:
            why = _ACTIONS["causes"].get(label) or (BY_CODE[label].message if label in BY_CODE else f"{label}.")
            message = _ACTIONS["calls"][call] + why
        if message:
            yield FeedAction(kind, label, number, message.format(**about, s="" if number == 1 else "s"))
