"""Recomputes refunds, commissions, platform fees and balances, and compares them with the ledger."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from sqlalchemy import Connection, text

from storage.rules.commission import CommissionStatus, of_remaining
from storage.rules.money import share
from storage.rules.settlement import Settlement

ROWS_AT_ONCE = 2_000
_SQL = Path(__file__).with_suffix(".sql").read_text(encoding="utf-8")
_SALES, _COMMISSIONS, _ACCOUNTS = map(text, _SQL.split(";\n"))


class BookDifference(NamedTuple):
    """One difference: `what` is stored `where`, and what it should be; amounts in cents."""

    what: str
    where: str
    stored: int
    recomputed: int

    def __str__(self) -> str:
        return f"{self.what} of {self.where}: stored {self.stored}, recomputed {self.recomputed}"


def compare(where: str, *facts: tuple[str, int, int]) -> Iterator[BookDifference]:
    """Yield the facts of a row or account (what, stored, recomputed) whose numbers differ."""
    for what, stored, recomputed in facts:
        if stored != recomputed:
            yield BookDifference(what, where, int(stored), int(recomputed))


def differences(connection: Connection) -> Iterator[BookDifference]:
    """Return every sale, commission and partner's account whose refunds or ledger entries do not add up."""
    for sale in _streamed(connection, _SALES):
        back_cents = int(sale.back_cents)
        left_cents = of_remaining(sale.program_cents, sale_cents=sale.amount_cents, refunded_cents=back_cents)
        yield from compare(
            f"program {sale.program_id}, sale {sale.id} ({sale.transaction_id})",
            ("refunded_cents", sale.refunded_cents, back_cents),
            ("refunds within the sale's amount", back_cents, min(max(back_cents, 0), sale.amount_cents)),
            ("refunds in the program's currency", sale.back_program_cents, sale.program_cents - left_cents),
        )
    balances: Counter[tuple[int, int]] = Counter()
    for commission in _streamed(connection, _COMMISSIONS):
        yield from _entries(commission)
        balances[commission.program_id, commission.partner_id] += _owed(commission)
    yield from _balances(connection, balances)


def _streamed(connection: Connection, statement: Any) -> Iterator[Any]:
    yield from connection.execute(statement, execution_options={"yield_per": ROWS_AT_ONCE})


def _entries(row: Any) -> Iterator[BookDifference]:
    """Compare a commission's entries with its amount, its terms, its sale's refunds and its status."""
    where = f"program {row.program_id}, commission {row.id}"
    fee_cents = share(row.amount_cents, row.platform_fee_bps)
    yield from compare(
        where,
        ("commission entry", row.earned_cents, row.amount_cents),
        ("net commission", row.net_cents, _expected(row, row.amount_cents)),
        ("platform fee entry", row.fee_cents, fee_cents),
        ("net platform fee", row.net_fee_cents, _expected(row, fee_cents)),
        ("payout", row.payout_cents, _owed(row) - _expected(row, row.amount_cents)),
    )


def _expected(row: Any, cents: int) -> int:
    """Return what must remain of `cents`: nothing after a rejection, otherwise the share that was not refunded."""
    if row.status == CommissionStatus.REJECTED or row.lead_settlement == Settlement.OUTRANKED:
        left = 0
    elif row.sale_cents is None:
        left = cents
    else:
        left = of_remaining(cents, sale_cents=row.sale_cents, refunded_cents=int(row.back_cents))
    return left


def _owed(row: Any) -> int:
    """Return what the program must owe the partner for a commission; after its payout, only later changes count."""
    return int(row.after_cents) if row.status == CommissionStatus.PAID else _expected(row, row.amount_cents)


def _balances(connection: Connection, owed: Counter[tuple[int, int]]) -> Iterator[BookDifference]:
    """Compare what each partner's entries add up to with what their commissions, adjustments and set-offs do."""
    balances: Counter[tuple[int, int]] = Counter()
    for row in _streamed(connection, _ACCOUNTS):
        balances[row.program_id, row.partner_id] = int(row.cents)
        owed[row.program_id, row.partner_id] += int(row.adjusted_cents)
    for program_id, partner_id in sorted(balances.keys() | owed.keys()):
        account = f"program {program_id}, partner {partner_id}"
        yield from compare(account, ("balance", balances[program_id, partner_id], owed[program_id, partner_id]))
