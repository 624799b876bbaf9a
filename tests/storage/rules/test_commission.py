"""What sales and leads earn, and what is left of it after refunds."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storage.rules import commission, refund
from storage.rules.commission import CommissionType, Terms
from storage.rules.errors import RefundExceedsSale
from storage.rules.refund import RefundStatus

FIRST = datetime(2026, 1, 31, tzinfo=UTC)
PERCENT = Terms(1, CommissionType.PERCENT, 2_000, 0, None, 0)


def earned(terms: Terms, cents: int = 10_000, *, after: timedelta | None = None) -> int:
    first_purchase_at = None if after is None else FIRST
    return commission.on_sale(
        terms, cents, first_purchase_at=first_purchase_at, occurred_at=FIRST + (after or timedelta())
    )


def test_a_percentage_is_of_the_sale_a_flat_rate_is_not_and_the_platform_fee_is_a_share_of_the_commission():
    flat = PERCENT._replace(type=CommissionType.FLAT, rate=700, minimum_order_cents=500)

    assert earned(PERCENT) == 2_000
    assert earned(PERCENT._replace(recurring_months=0)) == 2_000  # the first sale
    assert [earned(flat, cents) for cents in (1, 499, 500)] == [0, 0, 700]
    assert commission.platform_fee(PERCENT._replace(platform_fee_bps=1_000), 2_000) == 200


@pytest.mark.parametrize(
    ("recurring_months", "days", "cents"),
    [(None, 4_000, 2_000), (0, 0, 0), (1, 27, 2_000), (1, 28, 0), (12, 364, 2_000), (12, 365, 0)],
)
def test_later_sales_earn_while_the_recurring_period_lasts(recurring_months: int | None, days: int, cents: int):
    terms = PERCENT._replace(recurring_months=recurring_months)

    assert earned(terms, after=timedelta(days=days)) == cents


@given(st.integers(1, 10**9), st.integers(0, 10_000), st.lists(st.integers(1, 10**9), max_size=8))
def test_reversals_leave_the_commission_of_the_remainder_for_any_parts(cents: int, bps: int, asked: list[int]):
    whole = commission.on_sale(PERCENT._replace(rate=bps), cents, first_purchase_at=None, occurred_at=FIRST)
    entries, refunded_cents = [whole], 0

    for part in asked:
        taken = refund.amount(
            min(part, cents - refunded_cents) or None, sale_cents=cents, refunded_before_cents=refunded_cents
        )
        refunded_cents += taken
        left = commission.of_remaining(whole, sale_cents=cents, refunded_cents=refunded_cents)
        entries.append(left - sum(entries))

        assert sum(entries) == left
        assert entries[-1] <= 0

    back = commission.of_remaining(whole, sale_cents=cents, refunded_cents=cents)
    assert back == 0


@given(st.integers(1, 10**9), st.integers(0, 10**9), st.integers(1, 10**9))
def test_a_refund_takes_never_more_than_remains_and_all_of_it_by_default(sale_cents: int, before: int, asked: int):
    before %= sale_cents
    remaining = sale_cents - before

    assert refund.amount(None, sale_cents=sale_cents, refunded_before_cents=before) == remaining
    assert refund.amount(asked, sale_cents=sale_cents, refunded_before_cents=sale_cents) == 0
    if asked <= remaining:
        assert refund.amount(asked, sale_cents=sale_cents, refunded_before_cents=before) == asked
    else:
        with pytest.raises(RefundExceedsSale):
            refund.amount(asked, sale_cents=sale_cents, refunded_before_cents=before)


@pytest.mark.parametrize(
    ("taken", "remaining", "status"),
    [(0, 0, RefundStatus.ALREADY_REFUNDED), (5, 0, RefundStatus.REFUNDED), (5, 1, RefundStatus.PARTIALLY_REFUNDED)],
)
def test_the_status_names_what_the_sale_has_become(taken: int, remaining: int, status: RefundStatus):
    assert refund.status(refund_cents=taken, remaining_cents=remaining) == status
