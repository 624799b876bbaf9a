"""Commissions and the append-only ledger, from which their worth and the partners' balances follow."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, NamedTuple

from sqlalchemy import Connection

from storage.engine import ids
from storage.engine.statements import Statement
from storage.rules.commission import CommissionStatus, platform_fee
from storage.tables.columns import to_millis
from storage.tracking.customers import Customer
from storage.tracking.program_terms import ProgramTerms

_insert_commissions = Statement("commission_insert")
insert_entries = Statement("ledger_insert")


class EntryKind(StrEnum):
    """The reason for an entry: on the partner's account, or (the last three) of the platform's fee on a commission."""

    COMMISSION = "commission"
    REVERSAL = "reversal"
    REINSTATEMENT = "reinstatement"
    REJECTION = "rejection"
    PAYOUT = "payout"
    SET_OFF = "set_off"
    ADJUSTMENT = "adjustment"
    PLATFORM_FEE = "platform_fee"
    PLATFORM_FEE_REVERSAL = "platform_fee_reversal"
    PLATFORM_FEE_REINSTATEMENT = "platform_fee_reinstatement"


PARTNER_KINDS = (EntryKind.COMMISSION, EntryKind.REVERSAL, EntryKind.REINSTATEMENT, EntryKind.REJECTION)
PLATFORM_KINDS = (EntryKind.PLATFORM_FEE, EntryKind.PLATFORM_FEE_REVERSAL, EntryKind.PLATFORM_FEE_REINSTATEMENT)
ACCOUNT_KINDS = (*PARTNER_KINDS, EntryKind.PAYOUT, EntryKind.SET_OFF, EntryKind.ADJUSTMENT)


class Earned(NamedTuple):
    program: ProgramTerms
    customer: Customer
    cents: int  # of the program's currency
    at: datetime  # when it was reported
    happened_at: datetime  # its hold starts then, so that a backfilled sale is not held again
    sale_id: int | None = None
    lead_id: int | None = None

    @property
    def key(self) -> tuple[int, int, int]:
        """The program, the partner, and the id of the commission, which is that of its sale or lead."""
        return self.program.id, self.customer.partner_id, self.sale_id or self.lead_id or 0


def append(connection: Connection, earned: Sequence[Earned], *, at: datetime) -> None:
    """Create the commissions above 0, each with its ledger entry and another for its platform fee."""
    earned = [item for item in earned if item.cents]
    if not earned:
        return
    _insert_commissions(connection, [_commission_row(item) for item in earned])
    entries = [(*item.key, EntryKind.COMMISSION, item.cents) for item in earned]
    fees = [(*item.key, EntryKind.PLATFORM_FEE, platform_fee(item.program.terms, item.cents)) for item in earned]
    entries += [entry for entry in fees if entry[-1]]
    rows = [
        (program_id, entry_id, *entry, None, None, to_millis(at))
        for entry_id, (program_id, *entry) in zip(ids.after(at, len(entries)), entries, strict=True)
    ]
    insert_entries(connection, rows)


def _commission_row(item: Earned) -> tuple[Any, ...]:
    program, customer, cents, at, happened_at, sale_id, lead_id = item
    links = (customer.partner_id, customer.id, sale_id, lead_id, program.terms.version)
    hold_until = to_millis(happened_at + timedelta(days=program.hold_days))
    worth = (cents, program.currency, CommissionStatus.PENDING)
    return (program.id, sale_id or lead_id, *links, *worth, to_millis(at), hold_until)
