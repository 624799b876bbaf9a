"""Sales with what was returned of them: locked and loaded for a batch, and saved with the commissions' share."""

from collections.abc import Iterable
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import Connection

from storage.engine import feed
from storage.engine.feed import Note
from storage.engine.statements import Statement
from storage.rules import commission
from storage.rules.errors import TransactionNotFound
from storage.rules.payment import Returned, ReturnKind
from storage.rules.returned_money import ReturnedMoney, SaleRefund, returned
from storage.tables.columns import from_millis, to_millis
from storage.tracking import rollups
from storage.tracking.corrections import Corrections

OURS = "payments:"  # the refunds that follow from what the processor reported
_find = Statement("refund_lookup")
_find_history = Statement("refund_history")
_insert = Statement("refund_insert")
_save_sales = Statement("sale_refund")


class _Commission(NamedTuple):
    program_id: int
    id: int
    partner_id: int
    amount_cents: int
    status: str
    created_at: datetime


class RefundedSale:
    """A sale that this transaction has locked, as the refunds of the batch so far left it."""

    def __init__(self, row: Any) -> None:
        self.row = row
        self.refunded_cents: int = row.refunded_cents
        self.refunds: list[SaleRefund] = []
        self.reported: list[Returned] = []
        earned = (row.commission_id, row.partner_id, row.commission_cents, row.commission_status)
        is_earned = row.commission_id is not None
        self.commission = _Commission(row.program_id, *earned, from_millis(row.commission_at)) if is_earned else None

    @property
    def remaining_cents(self) -> int:
        return int(self.row.amount_cents) - self.refunded_cents

    @property
    def is_held(self) -> bool:
        """Whether a person has to decide on some of what was returned."""
        return bool(self.reported and self.returned().held)

    def due_cents(self, returned_cents: int) -> int:
        """Return what is to be refunded of the sale (negative: reinstated), when this much went back."""
        return min(returned_cents, int(self.row.amount_cents)) - self.refunded_cents

    def stored(self, refund_id: str | None, request_id: str | None) -> SaleRefund | None:
        """Return the refund with a refund_id, or without one, that of the same request."""
        name, value = ("refund_id", refund_id) if refund_id else ("request_id", request_id)
        return next((each for each in self.refunds if value and getattr(each, name) == value), None)

    def returned(self, *more: SaleRefund) -> ReturnedMoney:
        """Return what went back by all reports, and `more`; what cannot come on top of the rest is not held."""
        of_api = [each for each in self.refunds if not (each.refund_id or "").startswith(OURS)]
        money = returned([*of_api, *more], self.reported)
        held = (each for each in money.held if money.cents + each.cents <= self.row.amount_cents)
        return money._replace(held=tuple(held))

    def share_of_commission(self, refunded_cents: int) -> int:
        """Return what refunded cents take back of the commission."""
        whole_cents = self.commission.amount_cents if self.commission else 0
        return whole_cents - self.left_of(whole_cents, min(refunded_cents, self.row.amount_cents))

    def left_of(self, whole_cents: int, refunded_cents: int) -> int:
        return commission.of_remaining(whole_cents, sale_cents=self.row.amount_cents, refunded_cents=refunded_cents)


class RefundedSales:
    """The sales of a batch of refunds, loaded by three statements."""

    def __init__(self, connection: Connection, keys: Iterable[tuple[int, str]]) -> None:
        self._connection = connection
        rows = _find(connection, sorted(set(keys)))
        self._sales = {(row.program_id, row.transaction_id): RefundedSale(row) for row in rows}
        earned = [each.commission for each in self._sales.values() if each.commission]
        self._corrections = Corrections(connection, earned)
        self._new: list[tuple[Any, ...]] = []
        self._steps: list[rollups.Increment] = []
        by_id = {(each.row.program_id, each.row.id): each for each in self._sales.values()}
        sold = [(*key, sale.row.transaction_id) for key, sale in sorted(by_id.items(), key=lambda item: item[0])]
        for row in _find_history(connection, sold) if sold else ():
            sale = by_id[row.program_id, row.sale_id]
            if row.kind is None:
                decided = None if row.in_account is None else bool(row.in_account)
                said_cents = row.amount_cents if row.reported_cents is None else row.reported_cents
                taken = {"taken_cents": row.amount_cents, "reversed_cents": row.reversed_cents}
                said = (row.row_id, row.refund_id, said_cents, decided, row.request_id)
                sale.refunds.append(SaleRefund(*said, **taken))
            else:  # each total of a charge, or one refund or dispute
                named = (row.reference, row.refund_id, ReturnKind(row.kind))
                amounts = map(int, row.totals.split(",")) if row.totals else (row.amount_cents,)
                stands = (bool(row.in_account), from_millis(row.told_at))
                sale.reported += [Returned(*named, cents, *stands) for cents in amounts]
        self._were_held = {key: sale.is_held for key, sale in self._sales.items()}

    def require(self, program_id: int, transaction_id: str) -> RefundedSale:
        """Return a sale. Raises TransactionNotFound."""
        sale = self._sales.get((program_id, transaction_id))
        if sale is None:
            raise TransactionNotFound
        return sale

    def newly_decided(self) -> list[RefundedSale]:
        """Return the sales of which some money is held since this batch, or no longer."""
        return [self._sales[key] for key, was_held in self._were_held.items() if self._sales[key].is_held != was_held]

    def take_back(self, sale: RefundedSale, refund: SaleRefund, *, at: datetime) -> int:
        """Store a refund (negative for a reinstatement) and its effects; return the reversed commission."""
        row, earned, cents = sale.row, sale.commission, refund.taken_cents
        mine = (row.program_id, row.partner_id)
        total_cents = sale.refunded_cents + cents
        kept = [sale.left_of(row.program_cents, each) for each in (sale.refunded_cents, total_cents)]
        program_cents = kept[0] - kept[1]
        reversed_cents = 0
        if earned and cents:
            reversed_cents = self._corrections.reverse(
                earned, keep=lambda whole_cents: sale.left_of(whole_cents, total_cents), refund_id=refund.row_id
            )
            self._steps.append(rollups.Increment(*mine, earned.created_at.date(), commission_cents=-reversed_cents))
        counted = int(sale.refunded_cents == row.amount_cents) - int(total_cents == row.amount_cents)
        day = from_millis(row.occurred_at).date()
        self._steps.append(rollups.Increment(*mine, day, sales=counted, revenue_cents=-program_cents))
        refunded = (refund.refund_id, cents, program_cents, reversed_cents)
        reported_cents = None if refund.cents == cents else refund.cents
        said = (refund.reason, refund.request_id, reported_cents, refund.in_account, refund.caller)
        self._new.append((row.program_id, refund.row_id, row.id, *refunded, *said, to_millis(at)))
        sale.refunded_cents = total_cents
        sale.refunds.append(refund._replace(reversed_cents=reversed_cents))
        return reversed_cents

    def save(self, *, at: datetime) -> None:
        """Write the refunds and their effects; the unique keys reject a lost race."""
        if self._new:
            _insert(self._connection, sorted(self._new))
            feed.note(self._connection, (Note(row[0], "refund.record", at, row[1], cents=row[5]) for row in self._new))
            changed = (each for each in self._sales.values() if each.refunded_cents != each.row.refunded_cents)
            totals = ((each.row.program_id, each.row.id, each.refunded_cents) for each in changed)
            _save_sales(self._connection, sorted(totals))
            self._corrections.save(at=at)
            rollups.add(self._connection, self._steps)
