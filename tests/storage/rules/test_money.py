"""Money is exact, and rounded once, halves to even."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storage.rules import money


@pytest.mark.parametrize(
    ("exact", "cents"), [("0.5", 0), ("1.5", 2), ("2.5", 2), ("2.51", 3), ("-0.5", 0), ("-1.5", -2)]
)
def test_halves_go_to_the_even_cent(exact: str, cents: int):
    assert money.half_even(Fraction(exact)) == cents


@given(st.integers(0, 10**12), st.integers(0, 10_000))
def test_a_share_is_within_half_a_cent_of_the_exact_one(amount_cents: int, bps: int):
    exact = Fraction(amount_cents * bps, 10_000)

    assert abs(money.share(amount_cents, bps) - exact) <= Fraction(1, 2)


@given(st.integers(0, 10**12), st.integers(0, 10_000))
def test_a_share_and_its_complement_make_the_whole_to_a_cent(amount_cents: int, bps: int):
    both = money.share(amount_cents, bps) + money.share(amount_cents, 10_000 - bps)

    assert abs(both - amount_cents) <= 1


def test_a_yen_has_no_cents():
    assert money.convert(1_000, rate=Fraction(1, 150), from_digits=0, to_digits=2) == 667


@given(st.integers(-(10**12), 10**12))
def test_dollars_keep_every_cent(cents: int):
    assert round(money.dollars(cents) * 100) == cents
