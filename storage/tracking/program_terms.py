"""The terms of programs: the settings that decide what a lead or a sale earns, loaded once for a batch."""

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from sqlalchemy import BigInteger, Connection, Text, and_, select

from storage.access.program_keys import ProgramKey
from storage.engine.statements import Parameters, Prepared
from storage.rules.commission import CommissionType, Terms
from storage.rules.settlement import LeadAuthPolicy
from storage.tables import commission_terms, payment_accounts, program_keys, programs, retired_program_keys
from storage.tables.columns import from_millis


class ProgramTerms(NamedTuple):
    """What a tracking call needs to know about its program."""

    id: int
    currency: str
    attribution_window_days: int
    hold_days: int
    lead_auth_policy: LeadAuthPolicy
    terms: Terms
    has_payments: bool = False


class KeyHolder(NamedTuple):
    """The program that a key belongs to, or belonged to before it was replaced (then `key` and `program` are None)."""

    program_id: int
    key: ProgramKey | None
    program: ProgramTerms | None


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
            holders[row.key_hash] = KeyHolder(row.retired_of, None, None)
    return holders


def _of_row(row: Any) -> ProgramTerms:
    return ProgramTerms(
        row.id,
        row.currency,
        row.attribution_window_days,
        row.hold_days,
        LeadAuthPolicy(row.lead_auth_policy),
        Terms(
            row.terms_version,
            CommissionType(row.commission_type),
            row.rate,
            row.lead_commission_cents,
            row.recurring_months,
            row.platform_fee_bps,
            row.minimum_order_cents,
        ),
        row.has_payments is not None,
    )


_COLUMNS = (
    programs.c.id,
    programs.c.currency,
    programs.c.attribution_window_days,
    programs.c.hold_days,
    programs.c.lead_auth_policy,
    programs.c.terms_version,
    commission_terms.c.commission_type,
    commission_terms.c.rate,
    commission_terms.c.lead_commission_cents,
    commission_terms.c.recurring_months,
    commission_terms.c.platform_fee_bps,
    commission_terms.c.minimum_order_cents,
    payment_accounts.c.program_id.label("has_payments"),
)
_CURRENT = and_(commission_terms.c.program_id == programs.c.id, commission_terms.c.version == programs.c.terms_version)
_CONNECTED = payment_accounts.c.program_id == programs.c.id


def _build_find(_: Callable[..., Any]) -> Any:
    parameters = Parameters(id=BigInteger())
    joined = parameters.rows.join(programs, programs.c.id == parameters.id).join(commission_terms, _CURRENT)
    return select(*_COLUMNS).select_from(joined.outerjoin(payment_accounts, _CONNECTED))


def _build_find_keys(_: Callable[..., Any]) -> Any:
    parameters = Parameters(key_hash=Text())
    key, retired = program_keys, retired_program_keys
    joined = (
        parameters.rows.outerjoin(key, key.c.key_hash == parameters.key_hash)
        .outerjoin(programs, programs.c.id == key.c.program_id)
        .outerjoin(commission_terms, _CURRENT)
        .outerjoin(payment_accounts, _CONNECTED)
        .outerjoin(retired, retired.c.key_hash == parameters.key_hash)
    )
    shown = (
        parameters.key_hash.label("key_hash"),
        key.c.flagged_at,
        key.c.rotate_by,
        retired.c.program_id.label("retired_of"),
    )
    return select(*_COLUMNS, *shown).select_from(joined)


_find = Prepared(_build_find)
_find_keys = Prepared(_build_find_keys)
