"""Amounts, counts and days are written as the browser's language writes them; typed amounts are never misread."""

from datetime import date

import pytest

from tracking_api.dashboard.pages import locales, text, viewing


@pytest.mark.parametrize(
    ("accepted", "amount", "count", "day"),
    [
        ("", "$1,234.50", "12,345", "May 5, 2026"),
        ("en", "$1,234.50", "12,345", "May 5, 2026"),
        ("en-GB,en;q=0.9", "US$1,234.50", "12,345", "5 May 2026"),
        ("de-DE,de;q=0.9,en;q=0.8", "1.234,50\xa0$", "12.345", "05.05.2026"),
        ("en;q=0.5, sv-SE", "1\xa0234,50\xa0US$", "12\xa0345", "5 maj 2026"),
        ("ar-EG,fa", "$1,234.50", "12,345", "May 5, 2026"),
        ("xx-YY,<script>,*;q=0.1", "$1,234.50", "12,345", "May 5, 2026"),
    ],
)
def test_a_page_writes_by_the_first_language_that_it_can_write(accepted: str, amount: str, count: str, day: str):
    with viewing.shown_to(None, locales.negotiated(accepted)):
        written = (text.money(123_450, "USD"), text.number(12_345), text.day(date(2026, 5, 5)))

    assert written == (amount, count, day)


def test_a_comma_that_may_be_a_decimal_point_is_not_taken_for_thousands():
    assert text.minor("1,234.50", "USD") == 123_450
    assert text.minor("12,50", "USD") == "12,50"
