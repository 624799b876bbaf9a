"""Money is exact, and rounded once, halves to even; both formats of the ECB's file of rates."""

from datetime import date
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storage.rules import ecb, money


def test_halves_go_to_the_even_cent():
    exact = {"0.5": 0, "1.5": 2, "2.5": 2, "2.51": 3, "-0.5": 0, "-1.5": -2}

    assert {text: money.half_even(Fraction(text)) for text in exact} == exact
    assert money.convert(1_000, rate=Fraction(1, 150), from_digits=0, to_digits=2) == 667  # a yen has no cents


@given(st.integers(0, 10**12), st.integers(0, 10_000))
def test_a_share_is_within_half_a_cent_of_the_exact_one(amount_cents: int, bps: int):
    exact = Fraction(amount_cents * bps, 10_000)

    assert abs(money.share(amount_cents, bps) - exact) <= Fraction(1, 2)


@given(st.integers(-(10**12), 10**12))
def test_dollars_keep_every_cent(cents: int):
    assert round(money.dollars(cents) * 100) == cents


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
        (b"Date,USD,\n2026-11-20,-1,\n", "not a rate for USD"),
        (b"Date,USD,JPY,\n2026-11-20,1\n", "fewer columns"),
        (b"Date,USD,\n", "no rates"),
    ],
)
def test_a_file_that_is_not_the_ecbs_is_rejected_with_its_line(content: bytes, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        ecb.parse(content)
