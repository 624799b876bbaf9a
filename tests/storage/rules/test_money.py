"""Money: what sales and leads earn, what is left after refunds or set off, rounding, exchange rates, and trends."""

from datetime import UTC, date, datetime, timedelta
from fractions import Fraction
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storage.rules import commission, ecb, money
from storage.rules.commission import CommissionBasis, CommissionType, Terms
from storage.rules.payout import Owed, owed
from storage.rules.reports import metrics
from storage.rules.reports.metrics import Direction, Trend

FIRST = datetime(2026, 1, 31, tzinfo=UTC)
PERCENT = Terms(1, CommissionType.PERCENT, 2_000, 0, None, 0)


def earned(terms: Terms, cents: int = 10_000, *, after: timedelta | None = None) -> int:
    first_at, at = None if after is None else FIRST, FIRST + (after or timedelta())
    return commission.on_sale(terms, cents, cents, first_purchase_at=first_at, occurred_at=at)


def test_a_percentage_is_of_the_sale_a_flat_rate_is_not_and_the_platform_fee_is_a_share_of_the_commission():
    flat = PERCENT._replace(type=CommissionType.FLAT, rate=700, minimum_order_cents=500)

    assert earned(PERCENT) == 2_000
    assert earned(PERCENT._replace(recurring_months=0)) == 2_000  # the first sale
    assert [earned(flat, cents) for cents in (1, 499, 500)] == [0, 0, 700]
    assert commission.platform_fee(PERCENT._replace(platform_fee_bps=1_000), 2_000) == 200


def test_tax_and_shipping_earn_nothing_before_tax_in_the_proportion_of_the_sales_own_currency():
    before_tax = PERCENT._replace(basis=CommissionBasis.BEFORE_TAX)
    parts = {(0, 0): 9_800, (900, 0): 8_000, (900, 1_000): 6_000, (4_900, 0): 0}

    for (tax_cents, shipping_cents), cents in parts.items():
        sale = SimpleNamespace(amount_cents=4_900, tax_cents=tax_cents, shipping_cents=shipping_cents)
        assert (before_tax.basis_cents(sale, 9_800), PERCENT.basis_cents(sale, 9_800)) == (cents, 9_800), parts


def test_later_sales_earn_while_the_recurring_period_lasts():
    expected = {(None, 4_000): 2_000, (0, 0): 0, (1, 27): 2_000, (1, 28): 0, (12, 364): 2_000, (12, 365): 0}

    for (months, days), cents in expected.items():
        assert earned(PERCENT._replace(recurring_months=months), after=timedelta(days=days)) == cents, (months, days)


@given(st.integers(1, 10**9), st.integers(0, 10_000), st.lists(st.integers(1, 10**9), max_size=8))
def test_reversals_leave_the_commission_of_the_remainder_for_any_parts(cents: int, bps: int, asked: list[int]):
    whole = commission.on_sale(PERCENT._replace(rate=bps), cents, cents, first_purchase_at=None, occurred_at=FIRST)
    entries, refunded_cents = [whole], 0

    for part in asked:
        refunded_cents += min(part, cents - refunded_cents)
        left = commission.of_remaining(whole, sale_cents=cents, refunded_cents=refunded_cents)
        entries.append(left - sum(entries))

        assert sum(entries) == left
        assert entries[-1] <= 0

    assert commission.of_remaining(whole, sale_cents=cents, refunded_cents=cents) == 0


def test_halves_go_to_the_even_cent_and_the_status_names_what_the_sale_has_become():
    became = {(0, 0): "already_refunded", (5, 0): "refunded", (5, 1): "partially_refunded"}
    exact = {"0.5": 0, "1.5": 2, "2.5": 2, "2.51": 3, "-0.5": 0, "-1.5": -2}

    assert {text: money.half_even(Fraction(text)) for text in exact} == exact
    assert {each: money.refund_status(refunded_cents=each[0], remaining_cents=each[1]) for each in became} == became
    assert money.convert(1_000, rate=Fraction(1, 150), from_digits=0, to_digits=2) == 667  # a yen has no cents


def test_a_days_file_and_the_history_give_the_same_rates() -> None:
    day = ecb.parse(b"Date, USD, JPY, \n20 November 2026, 1.0850, 163.21, \n")
    history = ecb.parse(b"Date,USD,JPY,CYP,\n2026-11-20,1.0850,163.21,N/A,\n")

    assert day == history == [(date(2026, 11, 20), "USD", "1.0850"), (date(2026, 11, 20), "JPY", "163.21")]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "Line 1"),
        (b"PK\x03\x04\xff", "unzip"),
        (b"Date,USD,\nyesterday,1.1,\n", "Line 2: 'yesterday'"),
        *((b"Date,USD,\n2026-11-20,%b,\n" % rate, "not a rate") for rate in (b"-1", b"1e800000000", b"Infinity", b"0")),
        (b"Date,USD,JPY,\n2026-11-20,1\n", "fewer columns"),
        (b"Date,USD,\n", "no rates"),
    ],
)
def test_a_file_that_is_not_the_ecbs_is_rejected_with_its_line(content: bytes, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        ecb.parse(content)


def test_no_more_of_a_debt_is_set_off_than_the_payout_is_worth():
    expected = {-5_000: Owed(3_000, 0, 0), -1_000: Owed(1_000, 0, 2_000), 1_000: Owed(0, 1_000, 4_000)}

    assert {settled_cents: owed(3_000, settled_cents) for settled_cents in expected} == expected


def test_a_trend_is_the_absolute_change_with_its_direction():
    expected = {
        (0, 0): Trend(Direction.STABLE, 0.0, 0),
        (0, 5): Trend(Direction.UP, None, 0),
        (3, 4): Trend(Direction.UP, 33.3, 3),
        (3, 2): Trend(Direction.DOWN, 33.3, 3),
        (10_000, 10_004): Trend(Direction.STABLE, 0.0, 10_000),
        (10_000, 10_005): Trend(Direction.UP, 0.1, 10_000),
        (10_000, 9_996): Trend(Direction.STABLE, 0.0, 10_000),
    }

    assert {each: metrics.trend(*each) for each in expected} == expected


def test_the_conversion_rate_has_two_decimals_and_the_average_order_is_revenue_per_conversion():
    rates = {(0, 0): 0, (3, 0): 0, (1, 3): 33.33, (2, 3): 66.67, (1, 800): 0.13}
    averages = {(1000, 0): 0, (1000, 3): 333, (2000, 3): 667}

    assert {each: metrics.conversion_rate(*each) for each in rates} == rates
    assert {each: metrics.average_order_cents(*each) for each in averages} == averages
