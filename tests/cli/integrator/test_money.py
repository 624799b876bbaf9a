"""Amounts are written as Babel writes them, which an integrator's `svc` does without."""

from decimal import Decimal

import pytest
from babel.core import get_global
from babel.numbers import format_currency, get_currency_precision

from cli.integrator.money import DIGITS, money


def test_every_currency_has_babel_s_digits():
    fractions = get_global("currency_fractions")

    assert {code: digits for code, (digits, *_) in fractions.items() if digits != 2} == DIGITS


@pytest.mark.parametrize("currency", ["USD", "EUR", "GBP", "JPY", "CHF", "KWD"])
@pytest.mark.parametrize("minor_units", [123_456_789, 5, 0, -1_050])
def test_an_amount_is_written_as_babel_writes_it(minor_units: int, currency: str):
    amount = Decimal(minor_units).scaleb(-get_currency_precision(currency))

    assert money(minor_units, currency).replace(" ", "") == format_currency(amount, currency, locale="en_US")
