"""A partner's account: what they are owed after any history, on both databases."""

from datetime import timedelta
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import Connection

from storage import Storage
from storage.checks import books
from storage.engine import ids
from storage.lists import balances
from storage.lists.balances import PartnerBalance
from storage.lists.commissions import COMMISSIONS
from storage.lists.declaration import ListScope
from storage.lists.find import rows
from storage.management import commission_decisions
from storage.rules.commission import CommissionStatus, of_remaining
from storage.rules.errors import ServiceError
from storage.tracking import ledger
from storage.tracking.refunded_sales import RefundedSales, StoredRefund
from tests import world
from tests.world import NOW, World

OFF_HOLD = NOW + timedelta(days=15)
SALE_CENTS = (9_999, 10_001)
APPROVED, PAID, REJECTED = CommissionStatus.APPROVED, CommissionStatus.PAID, CommissionStatus.REJECTED
STEPS = st.tuples(
    st.integers(0, len(SALE_CENTS) - 1),
    st.sampled_from([APPROVED, PAID, REJECTED, "refund", "reinstate"]),
    st.integers(1, 6_000),
)


async def balance(acme: World, partner_id: int) -> world.Balance:
    found: world.Balance = await acme.store.read(world.balance, acme.program_id, partner_id)
    return found


async def decide(acme: World, commission_id: int, status: CommissionStatus) -> None:
    changed = commission_decisions.change_each
    (error,) = (
        await acme.store.write_in(acme.program_id, changed, acme.program_id, [commission_id], status, at=OFF_HOLD)
    ).values()
    if error:
        raise error


async def reinstate(acme: World, transaction_id: str, cents: int) -> None:
    """Take money of a sale again, as when a dispute is won."""

    def take(connection: Connection) -> None:
        refunded = RefundedSales(connection, [(acme.program_id, transaction_id)])
        sale = refunded.require(acme.program_id, transaction_id)
        refunded.take_back(sale, StoredRefund(ids.after(NOW, 1)[0], None, -cents), at=NOW)
        refunded.save(at=NOW)

    await acme.store.write_in(acme.program_id, take)


class Account:
    """What the partner must be owed, told apart from the ledger: by sale, its status, what went back, what was paid."""

    def __init__(self) -> None:
        self.status = [CommissionStatus.PENDING] * len(SALE_CENTS)
        self.refunded = [0] * len(SALE_CENTS)
        self.paid = [0] * len(SALE_CENTS)
        self.set_off = 0

    @property
    def owed_back(self) -> int:
        """What the partner owes for paid commissions; negative if they are owed it."""
        return sum(paid - self.worth(sale) for sale, paid in enumerate(self.paid) if self.status[sale] == PAID) - (
            self.set_off
        )

    def worth(self, sale: int) -> int:
        if self.status[sale] == REJECTED:
            return 0
        whole = round(SALE_CENTS[sale] * 0.2)
        return of_remaining(whole, sale_cents=SALE_CENTS[sale], refunded_cents=self.refunded[sale])

    def decided(self, sale: int, status: CommissionStatus) -> None:
        if status == PAID:
            self.set_off += min(self.worth(sale), self.owed_back)
            self.paid[sale] = self.worth(sale)
        self.status[sale] = status

    def on_hold(self) -> PartnerBalance:
        """Return the partner's balance before the hold ends."""
        unpaid = dict.fromkeys(CommissionStatus, 0)
        for sale, status in enumerate(self.status):
            unpaid[status] += self.worth(sale)
        hold_ends_at = OFF_HOLD if CommissionStatus.PENDING in self.status else None
        return PartnerBalance(
            pending_cents=unpaid[CommissionStatus.PENDING],
            approved_cents=unpaid[APPROVED] + max(-self.owed_back, 0),
            paid_cents=sum(self.paid) - self.set_off,
            owed_back_cents=max(self.owed_back, 0),
            next_hold_ends_at=hold_ends_at,
            last_hold_ends_at=hold_ends_at,
        )

    def moved(self, sale: int, cents: int) -> None:
        self.refunded[sale] += cents
        if self.status[sale] in {APPROVED, CommissionStatus.PENDING} and self.worth(sale) == 0:
            self.status[sale] = CommissionStatus.REVERSED
        elif self.status[sale] == CommissionStatus.REVERSED and self.worth(sale):
            self.status[sale] = CommissionStatus.PENDING


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(STEPS, max_size=12))
async def test_after_any_history_the_balance_is_what_is_left_less_what_was_paid(
    store: Storage, steps: list[tuple[int, Any, int]]
):
    acme = await world.acme(store)
    await acme.customer()
    sold = [await acme.sale(f"inv-{index}", cents, at=NOW) for index, cents in enumerate(SALE_CENTS)]
    account = Account()

    for sale, step, asked in steps:
        try:
            if step == "refund":
                await acme.refund(f"inv-{sale}", asked)
                account.moved(sale, asked if account.refunded[sale] < SALE_CENTS[sale] else 0)
            elif step == "reinstate":
                cents = min(asked, account.refunded[sale])
                await reinstate(acme, f"inv-{sale}", cents)
                account.moved(sale, -cents)
            else:
                await decide(acme, sold[sale].commission_id or 0, step)
                account.decided(sale, step)
        except ServiceError:
            continue

    left = sum(map(account.worth, range(len(SALE_CENTS))))
    assert await balance(acme, acme.anna) == world.Balance(left, sum(account.paid), account.set_off)
    assert await store.read(books.run) == []
    at = OFF_HOLD - timedelta(seconds=1)
    [shown] = (await store.read(balances.of_partners, acme.program_id, [acme.anna], at=at)).values()
    assert shown == account.on_hold()
    assert left == sum(shown[:4]) - shown.owed_back_cents


async def test_what_is_owed_back_is_set_against_the_next_payouts(acme: World):
    await acme.customer()
    sold = [(await acme.sale(f"inv-{n}", cents)).commission_id or 0 for n, cents in enumerate((10_000, 2_500, 5_000))]
    for commission_id in sold:
        await decide(acme, commission_id, APPROVED)
    await decide(acme, sold[0], PAID)
    await acme.refund("inv-0", 5_000)
    [owing] = (await acme.store.read(balances.of_partners, acme.program_id, [acme.anna], at=OFF_HOLD)).values()

    await decide(acme, sold[1], PAID)
    await decide(acme, sold[2], PAID)

    [settled] = (await acme.store.read(balances.of_partners, acme.program_id, [acme.anna], at=OFF_HOLD)).values()
    scope = ListScope(acme.program_id, OFF_HOLD)
    shown = await acme.store.read(rows, COMMISSIONS, scope, sold)
    assert (owing.approved_cents, owing.owed_back_cents, owing.to_pay_cents) == (1_500, 1_000, 500)
    assert [each.set_off_cents for each in shown] == [0, 500, 500]
    assert settled == PartnerBalance(paid_cents=2_500)
    assert (await balance(acme, acme.anna)).owed_cents == 0
    assert await acme.store.read(books.run) == []


async def test_a_rejected_commission_costs_no_platform_fee(store: Storage):
    acme = await world.acme(store, platform_fee_bps=1_000)
    await acme.customer()
    sold = await acme.sale()
    fee = (sold.commission_id or 0, ledger.PLATFORM_KINDS)
    before = await acme.net(*fee)

    await decide(acme, sold.commission_id or 0, CommissionStatus.REJECTED)

    assert (before, await acme.net(*fee)) == (200, 0)
