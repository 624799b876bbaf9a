"""Flags: signs of fraud, raised once for each finding, listed, and asked before a commission is approved or paid."""

import json
from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import Connection, Select, and_, or_, select, tuple_

from storage.engine import audit, ids, pagination
from storage.engine.audit import Actor, Change
from storage.engine.database import insert_for
from storage.engine.pagination import FIRST_PAGE, Page, Paging
from storage.rules.errors import CommissionFlagged, NotFound
from storage.rules.fraud import REASONS
from storage.rules.fraud.flag import Finding, FlagKind, FlagState, holds
from storage.tables import customers, flags, partners

REVIEW = Actor("service", "review", "Fraud review")


class Flag(NamedTuple):
    """A flag: on one customer's commissions, or (without a customer) on all of the partner's since `held_from`."""

    program_id: int
    id: int
    kind: FlagKind
    reason: str
    evidence: dict[str, Any]
    state: FlagState
    partner_id: int
    partner_name: str
    partner_code: str
    customer_id: int | None
    customer_key: str | None
    commission_id: int | None
    held_from: datetime
    created_at: datetime
    decided_at: datetime | None
    decided_by: str | None
    decision_reason: str | None


def unknown(connection: Connection, program_id: int, findings: Sequence[Finding]) -> list[Finding]:
    """Return the findings that were never flagged, whatever became of the flag."""
    if not findings:
        return []
    named = tuple_(flags.c.kind, flags.c.subject).in_([(each.kind, each.subject) for each in findings])
    known = connection.execute(
        select(flags.c.kind, flags.c.subject).where(flags.c.program_id == program_id, named)
    ).all()
    flagged = {(row.kind, row.subject) for row in known}
    return [each for each in findings if (each.kind, each.subject) not in flagged]


def raise_flags(connection: Connection, program_id: int, findings: Sequence[Finding], *, at: datetime) -> int:
    """Flag the findings that were never flagged, log each, and return how many there were."""
    raised: list[Change] = []
    for finding, flag_id in zip(findings, ids.after(at, len(findings)), strict=True):
        values = finding._asdict() | {"evidence": json.dumps(finding.evidence), "state": FlagState.OPEN}
        row = insert_for(connection)(flags).values(program_id=program_id, id=flag_id, created_at=at, **values)
        once = row.on_conflict_do_nothing(index_elements=["program_id", "kind", "subject"]).returning(flags.c.id)
        if connection.execute(once).scalar() is not None:
            raised.append(Change("flag.raise", flag_id, "kind", None, finding.kind))
    audit.write(connection, program_id, raised, actor=REVIEW, at=at)
    return len(raised)


def list_flags(
    connection: Connection,
    program_id: int,
    paging: Paging = FIRST_PAGE,
    *,
    state: FlagState | None = None,
    partner_id: int | None = None,
) -> Page[Flag]:
    """Return a page of a program's flags, newest first; only of `state` and `partner_id` if they are given."""
    mine = select_rows().where(flags.c.program_id == program_id)
    if state is not None:
        mine = mine.where(flags.c.state == state)
    if partner_id is not None:
        mine = mine.where(flags.c.partner_id == partner_id)
    return pagination.by_id(connection, mine, flags.c.id, paging, of_row)


def get_flag(connection: Connection, program_id: int, flag_id: int) -> Flag:
    """Return one flag of a program. Raises NotFound."""
    row = connection.execute(select_rows().where(flags.c.program_id == program_id, flags.c.id == flag_id)).one_or_none()
    if row is None:
        raise NotFound("The program has no such flag.")
    return of_row(row)


def holding(connection: Connection, program_id: int, commissions: Sequence[Any]) -> dict[int, list[FlagKind]]:
    """Return the kinds of the flags that hold each of these commissions; those that none holds are left out."""
    concerned = {each.partner_id for each in commissions}
    if not concerned:
        return {}
    rows = connection.execute(
        select(flags)
        .where(flags.c.program_id == program_id, flags.c.partner_id.in_(concerned), _may_hold())
        .order_by(flags.c.id)
    ).all()
    held: dict[int, list[FlagKind]] = {}
    for commission in commissions if rows else ():
        kinds = dict.fromkeys(FlagKind(row.kind) for row in rows if holds(row, commission))
        if kinds:
            held[commission.id] = list(kinds)
    return held


def require_unflagged(connection: Connection, commission: Any) -> None:
    """Raise CommissionFlagged if a flag holds the commission."""
    kinds = holding(connection, commission.program_id, [commission]).get(commission.id)
    if kinds:
        raise CommissionFlagged(f"The commission is held for review: {', '.join(kinds)}.", flags=kinds)


def of_row(row: Any) -> Flag:
    """Read a flag."""
    kind = FlagKind(row.kind)
    derived: dict[str, Any] = {
        "kind": kind,
        "reason": REASONS[kind],
        "evidence": json.loads(row.evidence),
        "state": FlagState(row.state),
    }
    copied: dict[str, Any] = {name: getattr(row, name) for name in Flag._fields if name not in derived}
    return Flag(**copied, **derived)


def _may_hold() -> Any:
    confirmed = and_(flags.c.state == FlagState.CONFIRMED, flags.c.customer_id.is_not(None))
    return or_(flags.c.state == FlagState.OPEN, confirmed)


def select_rows() -> Select[Any]:
    """Return the statement that reads flags with their partner and customer."""
    flag = flags.c
    joined = flags.join(
        partners, (partners.c.program_id == flag.program_id) & (partners.c.id == flag.partner_id)
    ).outerjoin(customers, (customers.c.program_id == flag.program_id) & (customers.c.id == flag.customer_id))
    return select(
        flags,
        partners.c.name.label("partner_name"),
        partners.c.code.label("partner_code"),
        customers.c.customer_key,
    ).select_from(joined)
