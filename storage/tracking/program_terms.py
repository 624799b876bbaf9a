"""The terms of programs: the settings that decide what a lead or a sale earns, loaded once for a batch."""

from collections.abc import Callable, Iterable
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from sqlalchemy import Connection

from storage.access.program_keys import ProgramKey
from storage.engine.statements import Statement
from storage.rules.commission import Terms, stored_terms
from storage.rules.settlement import LeadAuthPolicy
from storage.tables.columns import from_millis

_find = Statement("program_lookup")
_find_keys = Statement("program_key_lookup")
ANY_DAYS = 100_000  # the attribution window of what a person credits or imports
ROTATION = timedelta(hours=72)  # after a key is replaced: servers may still have the old one


class ProgramTerms(NamedTuple):
    """What a tracking call needs to know about its program."""

    id: int
    currency: str
    attribution_window_days: int
    hold_days: int
    lead_auth_policy: LeadAuthPolicy
    terms: Terms
    has_payments: bool = False
    terms_of: Callable[[int], Terms] | None = None  # of a partner, where they are not those in force now

    def for_partner(self, partner_id: int, special: Terms | None) -> "ProgramTerms":
        """Return the program with the terms in force for a partner, who may have `special` ones now."""
        terms = special if self.terms_of is None else self.terms_of(partner_id)
        return self if terms is None else self._replace(terms=terms)


class KeyHolder(NamedTuple):
    program_id: int  # that a key belongs to, or belonged to
    key: ProgramKey | None  # None: it was replaced
    program: ProgramTerms | None
    kept_until: datetime | None = None  # when calls with a replaced key are no longer kept for the owner; None: now


def load(connection: Connection, program_ids: Iterable[int]) -> dict[int, ProgramTerms]:
    """Return the terms of the programs that exist."""
    rows = _find(connection, [[program_id] for program_id in set(program_ids)])
    return {row.id: _of_row(row) for row in rows}


def load_one(connection: Connection, program_id: int) -> ProgramTerms:
    """Return the terms of a program that exists."""
    return load(connection, [program_id])[program_id]


def of_keys(connection: Connection, key_hashes: Iterable[str]) -> dict[str, KeyHolder]:
    """Return each key's holder by its hash; a key that no program has or had is left out."""
    holders: dict[str, KeyHolder] = {}
    for row in _find_keys(connection, [[key_hash] for key_hash in set(key_hashes)]):
        if row.id is not None:
            flagged_at, rotate_by = (None if at is None else from_millis(at) for at in (row.flagged_at, row.rotate_by))
            holders[row.key_hash] = KeyHolder(row.id, ProgramKey(row.id, flagged_at, rotate_by), _of_row(row))
        elif row.retired_of is not None:
            kept_until = from_millis(row.retired_at) + ROTATION if row.leaked_at is None else None
            holders[row.key_hash] = KeyHolder(row.retired_of, None, None, kept_until)
    return holders


def _of_row(row: Any) -> ProgramTerms:
    days = (row.attribution_window_days, row.hold_days)
    policy = LeadAuthPolicy(row.lead_auth_policy)
    return ProgramTerms(row.id, row.currency, *days, policy, stored_terms(row), row.has_payments is not None)
