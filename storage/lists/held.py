"""Which commissions flags hold: they cannot be approved or paid until a person has decided."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import ColumnElement, Connection, and_, or_, select

from storage.rules.commission import UNPAID
from storage.rules.fraud.flag import SHOWN_BY_CLICKS, FlagKind, FlagState
from storage.tables import commissions as earned
from storage.tables import flags


def holds(flag: Any = flags.c) -> ColumnElement[bool]:
    """Match the flags that hold what they concern: a confirmed one also holds what its customer brings later."""
    return or_(flag.state == FlagState.OPEN, and_(flag.state == FlagState.CONFIRMED, flag.customer_id.is_not(None)))


def concerned(flag: Any = flags.c) -> ColumnElement[bool]:
    """Match flags with the commissions that they concern."""
    of_partner = and_(flag.customer_id.is_(None), flag.kind.not_in(SHOWN_BY_CLICKS))
    return and_(
        flag.program_id == earned.c.program_id,
        flag.partner_id == earned.c.partner_id,
        or_(of_partner, flag.customer_id == earned.c.customer_id),
        or_(flag.kind != FlagKind.POSSIBLE_DUPLICATE, flag.commission_id == earned.c.id),
        flag.held_from <= earned.c.created_at,
    )


def of_one_finding(first: Any, second: Any) -> ColumnElement[bool]:
    """Match the flags that are listed and decided as one: a row for each customer of a finding, with one `incident`."""
    same = and_(first.incident == second.incident, first.decided_at.is_not_distinct_from(second.decided_at))
    mine = (first[name] == second[name] for name in ("program_id", "partner_id", "kind"))
    return and_(*mine, or_(first.id == second.id, same))


def is_first() -> ColumnElement[bool]:
    """Return the condition for the first flag of each finding."""
    earlier = flags.alias("earlier")
    before = select(earlier.c.id).where(of_one_finding(earlier.c, flags.c), earlier.c.id < flags.c.id)
    return ~before.correlate(flags).exists()


def is_held(by: ColumnElement[bool] | None = None) -> ColumnElement[bool]:
    """Return the condition for commissions that could be approved or paid, if there were no such flag."""
    holding = select(flags.c.id).where(_HOLDS if by is None else by, concerned()).correlate(earned)
    return and_(earned.c.status.in_(UNPAID), holding.exists())


def is_held_by(*flag_ids: int) -> ColumnElement[bool]:
    """Return the condition for the commissions that the findings of these flags hold."""
    named, member = flags.alias("named"), flags.alias("member")
    finding = (named.c.program_id == earned.c.program_id, named.c.id.in_(flag_ids), of_one_finding(member.c, named.c))
    holding = select(member.c.id).where(*finding, holds(member.c), concerned(member.c)).correlate(earned, flags)
    return and_(earned.c.status.in_(UNPAID), holding.exists())


_HOLDS = holds()
_KINDS = select(earned.c.id, flags.c.kind).where(concerned()).order_by(flags.c.id)


def kinds_by_commission(
    connection: Connection, program_id: int, ids: Sequence[int], by: ColumnElement[bool] = _HOLDS
) -> dict[int, list[FlagKind]]:
    """Return the kinds of the flags that hold each of these commissions; those that none holds are left out."""
    mine = (earned.c.program_id == program_id, earned.c.id.in_(ids), flags.c.program_id == program_id)
    held: dict[int, list[FlagKind]] = {}
    for commission_id, kind in connection.execute(_KINDS.where(*mine, by)) if ids else ():
        if kind not in held.setdefault(commission_id, []):
            held[commission_id].append(FlagKind(kind))
    return held
