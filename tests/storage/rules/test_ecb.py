"""Both shapes of the ECB's file."""

from datetime import date

import pytest

from storage.rules import ecb


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
