"""Corrections of commissions: reversals, reinstatements, rejections and payouts as new ledger entries."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Connection, FromClause

from storage.engine import ids
from storage.engine.statements import Statement
from storage.rules.commission import UNPAID, CommissionStatus
from storage.tables import commissions, ledger_entries
from storage.tables.columns import to_millis
from storage.tracking import ledger, rollups
from storage.tracking.ledger import PARTNER_KINDS, PLATFORM_KINDS, EntryKind

_find_entries = Statement("ledger_lookup")
_save_statuses = Statement("commission_status")


class Corrections:
    """What a transaction appends to commissions, rows that it has locked, each with program_id, id and partner_id."""

    def __init__(self, connection: Connection, rows: Iterable[Any]) -> None:
        self._connection = connection
        self._cents: defaultdict[tuple[Any, ...], int] = defaultdict(int)
        self._newest: dict[tuple[Any, ...], int] = {}
        self._entries: list[tuple[Any, ...]] = []
        self._statuses: dict[tuple[int, int], CommissionStatus] = {}
        keys = sorted({(each.program_id, each.id) for each in rows})
        for entry in _find_entries(connection, keys) if keys else ():
            key = (entry.program_id, entry.commission_id, entry.kind)
            self._cents[key], self._newest[key] = entry.cents, entry.newest_id

    def net(self, commission: Any, kinds: Iterable[EntryKind]) -> int:
        """Return what the ledger says a commission (or its platform fee) is worth now, in cents."""
        return sum(self._cents[commission.program_id, commission.id, kind] for kind in kinds)

    def append(
        self,
        commission: Any,
        kind: EntryKind,
        cents: int,
        *,
        corrects: EntryKind | None = None,
        refund_id: int | None = None,
        partner_id: int | None = None,
    ) -> None:
        """Append an entry unless it is 0, to the account of another partner where one is given."""
        if cents:
            key = (commission.program_id, commission.id)
            self._cents[*key, kind] += cents
            corrected_id = self._newest[*key, corrects] if corrects else None
            self._entries.append((*key, partner_id or commission.partner_id, kind, cents, corrected_id, refund_id))

    def take_back(self, commission: Any, kind: EntryKind) -> rollups.Increment:
        """Take back (as `kind`) what a commission and its platform fee hold; return what this adds to the rollups."""
        cents, fee_cents = (self.net(commission, kinds) for kinds in (PARTNER_KINDS, PLATFORM_KINDS))
        self.append(commission, kind, -cents, corrects=EntryKind.COMMISSION)
        self.append(commission, EntryKind.PLATFORM_FEE_REVERSAL, -fee_cents, corrects=EntryKind.PLATFORM_FEE)
        day = commission.created_at.date()
        return rollups.Increment(commission.program_id, commission.partner_id, day, commission_cents=-cents)

    def reverse(self, commission: Any, *, keep: Callable[[int], int], refund_id: int) -> int:
        """Reduce a commission and its fee to `keep(original cents)`; return the cents taken (negative: given) back."""
        partners_cents = 0
        status = self._statuses.get((commission.program_id, commission.id), commission.status)
        for kinds in (PARTNER_KINDS, PLATFORM_KINDS):
            original, reversal, reinstatement = kinds[:3]
            left_cents = keep(self.net(commission, [original]))
            taken_cents = 0 if status == CommissionStatus.REJECTED else self.net(commission, kinds) - left_cents
            kind = reversal if taken_cents > 0 else reinstatement
            self.append(commission, kind, -taken_cents, corrects=original, refund_id=refund_id)
            if kinds == PARTNER_KINDS:
                partners_cents = taken_cents
                key = (commission.program_id, commission.id)
                if left_cents == 0 and status in UNPAID:
                    self._statuses[key] = CommissionStatus.REVERSED
                elif left_cents > 0 and status == CommissionStatus.REVERSED:
                    self._statuses[key] = CommissionStatus.PENDING
        return partners_cents

    def save(self, *, at: datetime) -> None:
        """Insert the entries, with ids after those of the earlier ones, and save the statuses."""
        if self._entries:
            new_ids = ids.after(at, len(self._entries), past=max(self._newest.values(), default=0))
            rows = [
                (program_id, new_id, partner_id, commission_id, *entry, to_millis(at))
                for new_id, (program_id, commission_id, partner_id, *entry) in zip(new_ids, self._entries, strict=True)
            ]
            ledger.insert_entries(self._connection, rows)
        if self._statuses:
            _save_statuses(self._connection, [(*key, status) for key, status in sorted(self._statuses.items())])


def reject(connection: Connection, rejected: Sequence[Any], *, at: datetime) -> None:
    """Take back what the ledger holds of commissions that were rejected, and subtract it from their days."""
    corrections = Corrections(connection, rejected)
    steps = [corrections.take_back(each, EntryKind.REJECTION) for each in rejected]
    corrections.save(at=at)
    rollups.add(connection, steps)


def is_settled() -> ColumnElement[bool]:
    """Match entries, joined with their commissions, that no payout will settle any more: what they sum up to is due."""
    return commissions.c.id.is_(None) | (commissions.c.status == CommissionStatus.PAID)


def with_commissions() -> FromClause:
    """Return the entries with their commissions."""
    entry = ledger_entries.c
    theirs = (commissions.c.program_id == entry.program_id) & (commissions.c.id == entry.commission_id)
    return ledger_entries.outerjoin(commissions, theirs)
