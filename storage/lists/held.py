"""Which commissions flags hold: they cannot be approved or paid until a person has decided."""

from collections.abc import Sequence

from sqlalchemy import ColumnElement, Connection, and_, or_, select

from storage.rules.commission import UNPAID
from storage.rules.fraud.flag import SHOWN_BY_CLICKS, FlagKind, FlagState
from storage.tables import commissions as earned
from storage.tables import flags

_row = flags.c
# A confirmed flag also holds what its customer brings later.
HOLDS = or_(_row.state == FlagState.OPEN, and_(_row.state == FlagState.CONFIRMED, _row.customer_id.is_not(None)))


def concerned() -> ColumnElement[bool]:
    """Match flags with the commissions that they concern."""
    of_partner = and_(_row.customer_id.is_(None), _row.kind.not_in(SHOWN_BY_CLICKS))
    return and_(
        _row.program_id == earned.c.program_id,
        _row.partner_id == earned.c.partner_id,
        or_(of_partner, _row.customer_id == earned.c.customer_id),
        or_(_row.kind != FlagKind.POSSIBLE_DUPLICATE, _row.commission_id == earned.c.id),
        _row.held_from <= earned.c.created_at,
    )


def is_held(by: ColumnElement[bool] = HOLDS) -> ColumnElement[bool]:
    """Return the condition for commissions that could be approved or paid, if there were no such flag."""
    holding = select(_row.id).where(by, concerned()).correlate(earned)
    return and_(earned.c.status.in_(UNPAID), holding.exists())


def kinds_by_commission(
    connection: Connection, program_id: int, ids: Sequence[int], by: ColumnElement[bool] = HOLDS
) -> dict[int, list[FlagKind]]:
    """Return the kinds of the flags that hold each of these commissions; those that none holds are left out."""
    mine = (earned.c.program_id == program_id, earned.c.id.in_(ids))
    named = select(earned.c.id, _row.kind).where(*mine, by, concerned()).order_by(_row.id)
    held: dict[int, list[FlagKind]] = {}
    for commission_id, kind in connection.execute(named) if ids else ():
        if kind not in held.setdefault(commission_id, []):
            held[commission_id].append(FlagKind(kind))
    return held
