"""Commissions and the append-only ledger that says what they are worth."""

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, NamedTuple

from sqlalchemy import Connection, func, insert, select, update

from storage.engine import ids
from storage.engine.statements import Append
from storage.rules.commission import CommissionStatus, platform_fee
from storage.tables import commissions, ledger_entries
from storage.tables.columns import to_millis
from storage.tracking.customers import Customer
from storage.tracking.program_terms import ProgramTerms


class EntryKind(StrEnum):
    """Why money moved. The first four are the partner's, the others the platform's."""

    COMMISSION = "commission"
    REVERSAL = "reversal"
    REINSTATEMENT = "reinstatement"
    REJECTION = "rejection"
    PLATFORM_FEE = "platform_fee"
    PLATFORM_FEE_REVERSAL = "platform_fee_reversal"
    PLATFORM_FEE_REINSTATEMENT = "platform_fee_reinstatement"


PARTNER_KINDS = (EntryKind.COMMISSION, EntryKind.REVERSAL, EntryKind.REINSTATEMENT, EntryKind.REJECTION)
PLATFORM_KINDS = (
    EntryKind.PLATFORM_FEE,
    EntryKind.PLATFORM_FEE_REVERSAL,
    EntryKind.PLATFORM_FEE_REINSTATEMENT,
)


class Earned(NamedTuple):
    """A commission to create, with the platform's fee on it, both in cents of `currency`."""

    program_id: int
    commission_id: int
    partner_id: int
    customer_id: int
    sale_id: int | None
    lead_id: int | None
    terms_version: int
    amount_cents: int
    fee_cents: int
    currency: str
    earned_at: datetime
    hold_days: int


def earn(
    program: ProgramTerms,
    customer: Customer,
    cents: int,
    *,
    at: datetime,
    sale_id: int | None = None,
    lead_id: int | None = None,
) -> Earned:
    """Return the commission of `cents` that a customer's sale or lead earns at `at`, with its platform fee."""
    return Earned(
        program_id=program.id,
        commission_id=sale_id or lead_id or 0,
        partner_id=customer.partner_id,
        customer_id=customer.id,
        sale_id=sale_id,
        lead_id=lead_id,
        terms_version=program.terms.version,
        amount_cents=cents,
        fee_cents=platform_fee(program.terms, cents),
        currency=program.currency,
        earned_at=at,
        hold_days=program.hold_days,
    )


def append(connection: Connection, earned: Sequence[Earned], *, at: datetime) -> None:
    """Create the commissions that are worth something: each with its ledger entry, one more for a platform fee."""
    earned = [item for item in earned if item.amount_cents]
    if not earned:
        return
    _insert_commissions(connection, [_commission_row(item) for item in earned])
    entries = [(item, EntryKind.COMMISSION, item.amount_cents) for item in earned]
    entries += [(item, EntryKind.PLATFORM_FEE, item.fee_cents) for item in earned if item.fee_cents]
    new_ids = ids.after(at, len(entries))
    _insert_entries(
        connection,
        [
            (item.program_id, item.commission_id, entry_id, kind, cents, to_millis(at))
            for entry_id, (item, kind, cents) in zip(new_ids, entries, strict=True)
        ],
    )


def net(connection: Connection, program_id: int, commission_id: int, kinds: Sequence[EntryKind]) -> int:
    """Return what the ledger says a commission (or its platform fee) is worth now, in cents."""
    entry = ledger_entries.c
    mine = (entry.program_id == program_id, entry.commission_id == commission_id, entry.kind.in_(kinds))
    total = connection.execute(select(func.coalesce(func.sum(entry.amount_cents), 0)).where(*mine))
    return int(total.scalar_one())


def correct(
    connection: Connection,
    commission: Any,
    kind: EntryKind,
    cents: int,
    *,
    at: datetime,
    refund_id: int | None = None,
) -> None:
    """Append an entry that takes `cents` (below 0: gives them back) and points at what it corrects."""
    if cents == 0:
        return
    original = EntryKind.PLATFORM_FEE if kind in PLATFORM_KINDS else EntryKind.COMMISSION
    entry = ledger_entries.c
    corrected = select(entry.id).where(
        entry.program_id == commission.program_id, entry.commission_id == commission.id, entry.kind == original
    )
    connection.execute(
        insert(ledger_entries).values(
            program_id=commission.program_id,
            commission_id=commission.id,
            id=ids.after(at, 1)[0],
            kind=kind,
            amount_cents=-cents,
            corrects_id=connection.execute(corrected).scalar_one(),
            refund_id=refund_id,
            at=at,
        )
    )


def reverse(
    connection: Connection, commission: Any, *, keep: Callable[[int], int], refund_id: int, at: datetime
) -> int:
    """Bring a commission to `keep(original cents)` and its platform fee likewise; return the cents taken back.

    They are below 0 where money came back (a dispute was won). A commission that is worth nothing any more becomes
    `reversed`, and one that is worth something again `pending`; a paid one keeps its status, a rejected one stays at 0.
    """
    partners_cents = 0
    for kinds in (PARTNER_KINDS, PLATFORM_KINDS):
        original, reversal, reinstatement = kinds[:3]
        net_cents = net(connection, commission.program_id, commission.id, kinds)
        left_cents = keep(net(connection, commission.program_id, commission.id, [original]))
        taken_cents = 0 if commission.status == CommissionStatus.REJECTED else net_cents - left_cents
        kind = reversal if taken_cents > 0 else reinstatement
        correct(connection, commission, kind, taken_cents, at=at, refund_id=refund_id)
        if kinds == PARTNER_KINDS:
            partners_cents = taken_cents
            _follow(connection, commission, left_cents)
    return partners_cents


def _follow(connection: Connection, commission: Any, left_cents: int) -> None:
    """Let the status follow what is left of a commission that nobody has paid or rejected."""
    if left_cents == 0 and commission.status in {CommissionStatus.PENDING, CommissionStatus.APPROVED}:
        status = CommissionStatus.REVERSED
    elif left_cents > 0 and commission.status == CommissionStatus.REVERSED:
        status = CommissionStatus.PENDING
    else:
        return
    mine = (commissions.c.program_id == commission.program_id, commissions.c.id == commission.id)
    connection.execute(update(commissions).where(*mine).values(status=status))


def _commission_row(item: Earned) -> tuple[Any, ...]:
    hold_until = item.earned_at + timedelta(days=item.hold_days)
    links = [item.partner_id, item.customer_id, item.sale_id, item.lead_id, item.terms_version]
    worth = [item.amount_cents, item.currency, CommissionStatus.PENDING]
    return (item.program_id, item.commission_id, *links, *worth, to_millis(item.earned_at), to_millis(hold_until))


_insert_commissions = Append(
    commissions,
    "program_id",
    "id",
    "partner_id",
    "customer_id",
    "sale_id",
    "lead_id",
    "terms_version",
    "amount_cents",
    "currency",
    "status",
    "created_at",
    "hold_until",
)
_insert_entries = Append(ledger_entries, "program_id", "commission_id", "id", "kind", "amount_cents", "at")
