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
PLATFORM_KINDS = (
    EntryKind.PLATFORM_FEE,
    EntryKind.PLATFORM_FEE_REVERSAL,
    EntryKind.PLATFORM_FEE_REINSTATEMENT,
)
ACCOUNT_KINDS = (*PARTNER_KINDS, EntryKind.PAYOUT, EntryKind.SET_OFF, EntryKind.ADJUSTMENT)


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
    created_at: datetime
    hold_until: datetime


def earn(
    program: ProgramTerms,
    customer: Customer,
    cents: int,
    *,
    at: datetime,
    happened_at: datetime,
    sale_id: int | None = None,
    lead_id: int | None = None,
) -> Earned:
    """Return the commission of `cents`, created at `at`, with its platform fee.

    Its hold period starts at the time of the sale or lead, so a backfilled sale is not held again.
    """
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
        created_at=at,
        hold_until=happened_at + timedelta(days=program.hold_days),
    )


def append(connection: Connection, earned: Sequence[Earned], *, at: datetime) -> None:
    """Create the commissions above 0, each with its ledger entry and another for its platform fee."""
    earned = [item for item in earned if item.amount_cents]
    if not earned:
        return
    _insert_commissions(connection, [_commission_row(item) for item in earned])
    entries = [(item, EntryKind.COMMISSION, item.amount_cents) for item in earned]
    entries += [(item, EntryKind.PLATFORM_FEE, item.fee_cents) for item in earned if item.fee_cents]
    new_ids = ids.after(at, len(entries))
    insert_entries(
        connection,
        [
            (item.program_id, entry_id, item.partner_id, item.commission_id, kind, cents, None, None, to_millis(at))
            for entry_id, (item, kind, cents) in zip(new_ids, entries, strict=True)
        ],
    )


def _commission_row(item: Earned) -> tuple[Any, ...]:
    links = [item.partner_id, item.customer_id, item.sale_id, item.lead_id, item.terms_version]
    worth = [item.amount_cents, item.currency, CommissionStatus.PENDING]
    return (item.program_id, item.commission_id, *links, *worth, to_millis(item.created_at), to_millis(item.hold_until))
