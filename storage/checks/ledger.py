"""Recomputes refunds, commissions, platform fees and balances, and compares them with the ledger."""

from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple

from sqlalchemy import Connection, and_, case, func, select

from storage.rules.commission import CommissionStatus, of_remaining
from storage.rules.money import share
from storage.rules.settlement import Settlement
from storage.tables import commission_terms, commissions, leads, ledger_entries, refunds, sales
from storage.tracking.ledger import ACCOUNT_KINDS, PARTNER_KINDS, PLATFORM_KINDS, EntryKind

ROWS_AT_ONCE = 2_000
OTHER_KINDS = (EntryKind.ADJUSTMENT, EntryKind.SET_OFF)


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
    back = refunded()
    of_sale = and_(back.c.program_id == sales.c.program_id, back.c.sale_id == sales.c.id)
    sums = [func.coalesce(back.c[name], 0).label(f"back_{name}") for name in ("cents", "program_cents")]
    touched = (sales.c.refunded_cents != 0) | back.c.sale_id.is_not(None)
    with_refunds = select(sales, *sums).select_from(sales.outerjoin(back, of_sale)).where(touched)
    for sale in _streamed(connection, with_refunds):
        back_cents = int(sale.back_cents)
        left_cents = of_remaining(sale.program_cents, sale_cents=sale.amount_cents, refunded_cents=back_cents)
        yield from compare(
            f"program {sale.program_id}, sale {sale.id} ({sale.transaction_id})",
            ("refunded_cents", sale.refunded_cents, back_cents),
            ("refunds within the sale's amount", back_cents, min(max(back_cents, 0), sale.amount_cents)),
            ("refunds in the program's currency", sale.back_program_cents, sale.program_cents - left_cents),
        )
    balances: Counter[tuple[int, int]] = Counter()
    for commission in _streamed(connection, _commissions()):
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
    entry = ledger_entries.c
    key = (entry.program_id, entry.partner_id)
    adjusted = func.sum(case((entry.kind.in_(OTHER_KINDS), entry.amount_cents), else_=0)).label("adjusted_cents")
    stored = select(*key, func.sum(entry.amount_cents).label("cents"), adjusted).group_by(*key)
    balances: Counter[tuple[int, int]] = Counter()
    for row in _streamed(connection, stored.where(entry.kind.in_(ACCOUNT_KINDS))):
        balances[row.program_id, row.partner_id] = int(row.cents)
        owed[row.program_id, row.partner_id] += int(row.adjusted_cents)
    for program_id, partner_id in sorted(balances.keys() | owed.keys()):
        account = f"program {program_id}, partner {partner_id}"
        yield from compare(account, ("balance", balances[program_id, partner_id], owed[program_id, partner_id]))


def refunded() -> Any:
    """Return what the refund events of each sale add up to."""
    refund = refunds.c
    cents = func.sum(refund.amount_cents)
    program_cents = func.sum(refund.program_cents)
    totals = select(refund.program_id, refund.sale_id, cents.label("cents"), program_cents.label("program_cents"))
    return totals.group_by(refund.program_id, refund.sale_id).subquery("back")


def _commissions() -> Any:
    back, net = refunded(), _net()
    commission, sale, terms = commissions.c, sales.c, commission_terms.c
    of_terms = and_(terms.program_id == commission.program_id, terms.version == commission.terms_version)
    joined = (
        commissions.join(commission_terms, of_terms)
        .outerjoin(sales, and_(sale.program_id == commission.program_id, sale.id == commission.sale_id))
        .outerjoin(leads, and_(leads.c.program_id == commission.program_id, leads.c.id == commission.lead_id))
        .outerjoin(back, and_(back.c.program_id == sale.program_id, back.c.sale_id == sale.id))
        .outerjoin(net, and_(net.c.program_id == commission.program_id, net.c.commission_id == commission.id))
    )
    sums = [func.coalesce(column, 0).label(column.name) for column in net.c if column.name.endswith("_cents")]
    own = (commission.program_id, commission.id, commission.partner_id, commission.status, commission.amount_cents)
    cause = (sale.amount_cents.label("sale_cents"), leads.c.settlement.label("lead_settlement"))
    back_cents = func.coalesce(back.c.cents, 0).label("back_cents")
    return select(*own, terms.platform_fee_bps, *cause, back_cents, *sums).select_from(joined)


def _net() -> Any:
    """Return what the ledger entries of each commission add up to: as a whole, at first, and after its payout."""
    entry = ledger_entries.c
    by_commission = (entry.program_id, entry.commission_id)
    paid = entry.kind == EntryKind.PAYOUT
    payout = select(*by_commission, func.max(entry.id).label("id")).where(paid).group_by(*by_commission)
    last = payout.subquery("payout")
    sums = {
        "earned_cents": entry.kind == EntryKind.COMMISSION,
        "net_cents": entry.kind.in_(PARTNER_KINDS),
        "payout_cents": paid,
        "after_cents": entry.kind.in_(PARTNER_KINDS) & (entry.id > last.c.id),
        "fee_cents": entry.kind == EntryKind.PLATFORM_FEE,
        "net_fee_cents": entry.kind.in_(PLATFORM_KINDS),
    }
    totals = [func.sum(case((which, entry.amount_cents), else_=0)).label(name) for name, which in sums.items()]
    of_payout = and_(last.c.program_id == entry.program_id, last.c.commission_id == entry.commission_id)
    joined = ledger_entries.outerjoin(last, of_payout)
    return select(*by_commission, *totals).select_from(joined).group_by(*by_commission).subquery("net")
