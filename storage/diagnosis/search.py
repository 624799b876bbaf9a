"""Search: what an identifier names in many programs, as stories of sales and customers, and as partners."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import Connection, func, select

from storage import tables
from storage.diagnosis import identifier_health, readiness
from storage.diagnosis.explanation import Explanation, explain
from storage.diagnosis.facts import Subject
from storage.engine.cursors import LARGEST_ID
from storage.engine.statements import read_statement
from storage.lists.partners import has
from storage.rules import attribution, contact
from storage.rules.errors import AffMissing, InvalidAffiliateUrl
from storage.tables.columns import Timestamp

MOST, MOST_SILENT = 10, 5
MOST_REJECTED, MOST_LOGS = 1_000, 20  # the newest of each of some logs, which have no index by identifier
HASH_DIGITS = 64
_LAST_CALLS = read_statement("last_calls", called_at=Timestamp, rejected_at=Timestamp)
_NAMES, _OF_REJECTED = read_statement("identifier_names"), read_statement("rejected_names")


class Silence(NamedTuple):
    """A program where nothing has the identifier: the last call, the key's problem, in the first also a similar key."""

    program_id: int
    last_call_at: datetime | None
    key_problem: str | None
    likely_key: str | None = None


class SearchResult(NamedTuple):
    stories: list[Explanation]
    partners: list[Any]  # ten at most
    silences: list[Silence]  # only if there is neither a story nor a partner, and the search explains that
    partners_of_first: int  # how many of them all the first program has


def search(
    connection: Connection, program_ids: Sequence[int], typed: str, *, at: datetime, explains_silence: bool = True
) -> SearchResult:
    """Return what a text names in these programs; the first programs answer for an identifier that none has."""
    found = dict.fromkeys(_find_named(connection, program_ids, typed))
    stories = [explain(connection, each, Subject(**{kind: value}), at=at) for each, kind, value in list(found)[:MOST]]
    named, of_first = _partners(connection, program_ids, typed)
    silent = program_ids[:MOST_SILENT] if explains_silence and not stories and not named else []
    silences = [_silence(connection, each, typed, at, is_first=n == 0) for n, each in enumerate(silent)]
    return SearchResult(stories, named, silences, of_first)


def _find_named(connection: Connection, program_ids: Sequence[int], typed: str) -> Iterator[tuple[int, str, str]]:
    """Yield the programs, kinds and values of what a text names, then as what rejected calls of some name it."""
    if not program_ids:
        return
    is_hash = len(typed) == HASH_DIGITS
    email_hash = contact.protect(typed).email_hash if contact.is_email(typed) else typed.lower() if is_hash else None
    is_id = typed.isascii() and typed.isdigit() and int(typed) < LARGEST_ID
    sought = {"typed": typed, "email_hash": email_hash, "row_id": int(typed) if is_id else None}
    for row in connection.execute(_NAMES, {"program_ids": program_ids, **sought, "most": MOST}):
        yield row.program_id, row.kind, row.value
    for program_id in program_ids[:MOST_LOGS]:
        log = {"program_id": program_id, "typed": typed, "most": MOST_REJECTED}
        for kind in connection.execute(_OF_REJECTED, log).scalars():
            yield program_id, kind, typed


def _silence(connection: Connection, program_id: int, typed: str, at: datetime, *, is_first: bool) -> Silence:
    times = connection.execute(_LAST_CALLS, {"program_id": program_id}).one()
    last_call_at = max(filter(None, times), default=None)
    rejected = readiness.check_key_accepted(connection, program_id, at=at)
    likely = identifier_health.likely_key(connection, program_id, typed) if is_first else None
    return Silence(program_id, last_call_at, rejected.next_action, likely)


def _partners(connection: Connection, program_ids: Sequence[int], typed: str) -> tuple[list[Any], int]:
    """Return the partners with this code or link, then whom the list finds, and how many the first program has."""
    try:
        text, _ = attribution.link_code(typed)
    except (InvalidAffiliateUrl, AffMissing):
        text = typed
    row = tables.partners.c
    found = select(tables.partners).where(row.program_id.in_(program_ids), has(text))
    ordered = found.order_by((row.code == text).desc(), row.program_id.in_(program_ids[:1]).desc(), row.id.desc())
    rows = list(connection.execute(ordered.limit(MOST)))
    of_first = select(func.count()).select_from(tables.partners).where(row.program_id.in_(program_ids[:1]), has(text))
    return rows, connection.execute(of_first).scalar_one() if len(rows) == MOST else len(rows)
