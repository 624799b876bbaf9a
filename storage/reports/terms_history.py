"""The history of a program's commission terms and of its key: since when each holds."""

from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import Connection, func, select

from storage.rules.keys import rotation_state
from storage.rules.settings import SETTINGS, published
from storage.tables import commission_terms, commissions, program_keys, retired_program_keys, sales

MOST = 20
MOST_EARNED = 100_000
TERMS = tuple(setting for setting in SETTINGS if setting.is_term)


class TermsVersion(NamedTuple):
    """A version of the terms, under the names and in the units of the APIs.

    Sales that were recorded from `since` on and before `until` earn by it: `sales` of the newest 100,000 did, of
    `sales_cents`, and earned `commission_cents` before refunds, in the program's currency.
    """

    version: int
    since: datetime
    until: datetime | None
    by_agent: bool
    terms: dict[str, Any]
    sales: int
    sales_cents: int
    commission_cents: int


def list_terms(connection: Connection, program_id: int) -> list[TermsVersion]:
    """Return a program's newest versions of its terms, newest first."""
    mine = select(commission_terms).where(commission_terms.c.program_id == program_id)
    rows = connection.execute(mine.order_by(commission_terms.c.version.desc()).limit(MOST)).all()
    ends = [None, *(row.created_at for row in rows)]
    earned = _earned(connection, program_id)
    return [
        TermsVersion(
            row.version, row.created_at, until, row.by_agent, published(row, TERMS), *earned.get(row.version, (0, 0, 0))
        )
        for row, until in zip(rows, ends, strict=False)
    ]


def _earned(connection: Connection, program_id: int) -> dict[int, tuple[int, int, int]]:
    """Return how many sales earned by each version, of what amount, and how much."""
    row, sale = commissions.c, sales.c
    same = (sale.program_id == row.program_id) & (sale.id == row.sale_id)
    each = select(row.terms_version, row.amount_cents, sale.program_cents).join_from(commissions, sales, same)
    newest = each.where(row.program_id == program_id).order_by(row.id.desc()).limit(MOST_EARNED).subquery().c
    sums = (func.count(), func.sum(newest.program_cents), func.sum(newest.amount_cents))
    grouped = connection.execute(select(newest.terms_version, *sums).group_by(newest.terms_version))
    return {version: (count, int(sold), int(earned)) for version, count, sold, earned in grouped}


def get_key(connection: Connection, program_id: int, *, at: datetime) -> dict[str, Any]:
    """Return the age and the state of a program's key, and when those before it were replaced, newest first."""
    key, old = program_keys.c, retired_program_keys.c
    row = connection.execute(select(program_keys).where(key.program_id == program_id)).one()
    ended = select(old.retired_at).where(old.program_id == program_id).order_by(old.retired_at.desc()).limit(MOST)
    due = {"rotate_by": row.rotate_by} if row.rotate_by is not None else {}
    about = {"since": row.created_at, "state": rotation_state(row.rotate_by, at), **due}
    return about | {"earlier_ended_at": list(connection.execute(ended).scalars())}
