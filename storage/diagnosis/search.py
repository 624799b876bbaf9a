"""Search: the stories of what an identifier names, and where nothing has arrived, what is known instead."""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import Connection

from storage.diagnosis import identifier_health, identifier_search, readiness
from storage.diagnosis.explanation import Explanation, explain
from storage.diagnosis.identifier_search import FoundPartner

MOST_SILENT = 5
MOST_LEADS = 2_000


class Story(NamedTuple):
    """What became of an identifier in a program."""

    program_id: int
    explanation: Explanation


class Silence(NamedTuple):
    """A program in which nothing has the identifier: its server's last call, and what may be wrong.

    `key_problem` says that calls are rejected because of the program key; `likely_key`, of the first program, is a
    similar customer key.
    """

    program_id: int
    last_call_at: datetime | None
    key_problem: str | None
    likely_key: str | None = None


class SearchResult(NamedTuple):
    """What was found; `silences` only if there is neither a story nor a partner, and the search explains that."""

    stories: list[Story]
    partners: list[FoundPartner]
    silences: list[Silence]


def search(
    connection: Connection, program_ids: Sequence[int], typed: str, *, at: datetime, explains_silence: bool = True
) -> SearchResult:
    """Return what a text names in these programs; the first programs answer for an identifier that none has."""
    found = identifier_search.find_named(connection, program_ids, typed)
    stories = [
        Story(program_id, explain(connection, program_id, at=at, **{kind: value})) for program_id, kind, value in found
    ]
    partners = identifier_search.find_partners(connection, program_ids, typed)
    silent = program_ids[:MOST_SILENT] if explains_silence and not stories and not partners else []
    silences = [_silence(connection, each, typed, at, is_first=n == 0) for n, each in enumerate(silent)]
    return SearchResult(stories, partners, silences)


def _silence(connection: Connection, program_id: int, typed: str, at: datetime, *, is_first: bool) -> Silence:
    rejected = readiness.read_rejected_keys(connection, program_id, at=at)
    about = (identifier_search.last_call_at(connection, program_id), rejected.next_action if rejected else None)
    likely = identifier_health.likely_key(connection, program_id, typed, most_leads=MOST_LEADS) if is_first else None
    return Silence(program_id, *about, likely)
