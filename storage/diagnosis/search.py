"""Search: the stories of what an identifier names, and where nothing has arrived, what is known instead."""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import Connection

from storage.diagnosis import identifier_health, rejected_keys
from storage.diagnosis.explanation import Explanation, explain
from storage.reading import identifier_search
from storage.reading.identifier_search import FoundPartner

MOST_SILENT = 5


class Story(NamedTuple):
    """What became of an identifier in a program."""

    program_id: int
    explanation: Explanation


class Silence(NamedTuple):
    """A program in which nothing has the identifier: its server's last call, and what may be wrong.

    `key_problem` says that calls are rejected because of the program key; `likely_key` is a similar customer key.
    """

    program_id: int
    last_call_at: datetime | None
    key_problem: str | None
    likely_key: str | None


class SearchResult(NamedTuple):
    """What was found; `silences` only if there is neither a story nor a partner."""

    stories: list[Story]
    partners: list[FoundPartner]
    silences: list[Silence]


def search(connection: Connection, program_ids: Sequence[int], typed: str, *, at: datetime) -> SearchResult:
    """Return what a text names in these programs; the first programs answer for an identifier that none has."""
    found = identifier_search.find(connection, program_ids, typed)
    stories = [
        Story(program_id, explain(connection, program_id, at=at, **{kind: value})) for program_id, kind, value in found
    ]
    partners = identifier_search.find_partners(connection, program_ids, typed)
    silent = [] if stories or partners else program_ids[:MOST_SILENT]
    return SearchResult(stories, partners, [_silence(connection, each, typed, at) for each in silent])


def _silence(connection: Connection, program_id: int, typed: str, at: datetime) -> Silence:
    rejected = rejected_keys.find(connection, program_id, at=at)
    return Silence(
        program_id,
        identifier_search.last_call_at(connection, program_id),
        rejected.next_action if rejected else None,
        identifier_health.likely_key(connection, program_id, typed),
    )
