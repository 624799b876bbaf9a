"""The list of signs of fraud, and which commissions they hold."""

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Any, NamedTuple

from sqlalchemy import ColumnElement, Connection, and_, or_, select

from storage.lists.declaration import Column, Filter, List, ListScope
from storage.lists.partners import named
from storage.lists.related import of_customer, of_partner, with_key
from storage.rules.fraud.flag import REASONS, SHOWN_BY_CLICKS, FlagKind, FlagState, concerns, holds
from storage.rules.untrusted import Untrusted
from storage.tables import commissions as earned
from storage.tables import flags

_row = flags.c


class Flag(NamedTuple):
    """A sign of fraud, or a possible duplicate. A possible duplicate holds the commission of its sale.

    A sign of fraud holds the commissions of `customer_id`, or without one the partner's since `held_from`.

    `commission_id` is the first that the customer earned the partner. `evidence` depends on the kind.
    """

    id: int
    created_at: datetime
    kind: Annotated[FlagKind, Column("Kind", sorts=True)]
    state: FlagState
    partner_id: int
    partner_name: Annotated[Untrusted, Column("Partner", of_partner(flags, "name"), sorts=True)]
    partner_code: Annotated[Untrusted, Column(sql=of_partner(flags, "code"))]
    customer_id: int | None
    customer_key: Annotated[Untrusted | None, Column("Customer key", of_customer(flags, "customer_key"), sorts=True)]
    commission_id: int | None
    held_from: datetime
    evidence: dict[str, Any]
    decided_at: datetime | None
    decided_by: Untrusted | None
    decision_reason: Untrusted | None
    program_id: Annotated[int, Column(is_internal=True)]
    reason: str = ""


def _search(scope: ListScope, text: str) -> ColumnElement[bool]:
    return or_(_row.partner_id.in_(named(scope.program_id, text)), with_key(flags, scope.program_id, text))


def _with_reasons(_: Connection, __: ListScope, rows: list[Flag]) -> list[Flag]:
    return [row._replace(reason=REASONS[row.kind]) for row in rows]


FLAGS = List(
    "flags",
    "Review",
    "flag",
    "The signs of fraud and possible duplicates",
    Flag,
    flags,
    at=_row.created_at,
    filters=(
        Filter("state", FlagState, "open, dismissed or confirmed.", _row.state.__eq__),
        Filter("partner_id", int, "Only this partner's.", _row.partner_id.__eq__),
    ),
    finds="Partner or customer key",
    search=_search,
    finish=_with_reasons,
)


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


def holding(connection: Connection, program_id: int, commissions: Sequence[Any]) -> dict[int, list[FlagKind]]:
    """Return the kinds of the flags that hold each of these commissions; those that none holds are left out."""
    partner_ids = {each.partner_id for each in commissions}
    if not partner_ids:
        return {}
    confirmed = and_(_row.state == FlagState.CONFIRMED, _row.customer_id.is_not(None))
    mine = (_row.program_id == program_id, _row.partner_id.in_(partner_ids))
    may_hold = select(flags).where(*mine, or_(_row.state == FlagState.OPEN, confirmed)).order_by(_row.id)
    rows = connection.execute(may_hold).all()
    held: dict[int, list[FlagKind]] = {}
    for commission in commissions if rows else ():
        kinds = dict.fromkeys(FlagKind(row.kind) for row in rows if holds(row, commission))
        if kinds:
            held[commission.id] = list(kinds)
    return held


def was_released_by(connection: Connection, commission: Any, key_id: int) -> bool:
    """Say whether an agent key dismissed a flag that held a commission."""
    mine = (_row.program_id == commission.program_id, _row.partner_id == commission.partner_id)
    by_key = (_row.state == FlagState.DISMISSED, _row.decided_by_key_id == key_id)
    return any(concerns(flag, commission) for flag in connection.execute(select(flags).where(*mine, *by_key)))
