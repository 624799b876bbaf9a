"""Programs: their settings, and the terms in force that price a sale."""

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from sqlalchemy import BigInteger, Connection, and_, select

from storage.engine.statements import Given, Prepared
from storage.rules.commission import CommissionType, Terms
from storage.rules.settlement import LeadAuthPolicy
from storage.tables import commission_terms, payment_accounts, programs


class ProgramTerms(NamedTuple):
    """What a tracking call needs to know of its program."""

    id: int
    currency: str
    attribution_window_days: int
    hold_days: int
    lead_auth_policy: LeadAuthPolicy
    terms: Terms
    has_payments: bool = False


def in_force(connection: Connection, program_ids: Iterable[int]) -> dict[int, ProgramTerms]:
    """Return the settings and current terms of the programs that exist."""
    rows = _find(connection, [[program_id] for program_id in set(program_ids)])
    return {row.id: _of_row(row) for row in rows}


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
        ),
        row.has_payments is not None,
    )


def _build_find(_: Callable[..., Any]) -> Any:
    given = Given(id=BigInteger())
    current = and_(
        commission_terms.c.program_id == programs.c.id, commission_terms.c.version == programs.c.terms_version
    )
    account = payment_accounts.c.program_id == programs.c.id
    found = given.rows.join(programs, programs.c.id == given.id).join(commission_terms, current)
    found = found.outerjoin(payment_accounts, account)
    terms = commission_terms.c
    return select(
        programs.c.id,
        programs.c.currency,
        programs.c.attribution_window_days,
        programs.c.hold_days,
        programs.c.lead_auth_policy,
        programs.c.terms_version,
        terms.commission_type,
        terms.rate,
        terms.lead_commission_cents,
        terms.recurring_months,
        terms.platform_fee_bps,
        payment_accounts.c.program_id.label("has_payments"),
    ).select_from(found)


_find = Prepared(_build_find)
