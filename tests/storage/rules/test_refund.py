"""What a refund takes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storage.rules import refund
from storage.rules.errors import RefundExceedsSale
from storage.rules.refund import RefundStatus


def test_without_an_amount_it_takes_all_that_remains():
    assert refund.amount(None, sale_cents=1_000, refunded_before_cents=300) == 700


def test_a_sale_that_is_refunded_whole_gives_nothing_more():
    assert refund.amount(500, sale_cents=1_000, refunded_before_cents=1_000) == 0


@given(st.integers(1, 10**9), st.integers(0, 10**9), st.integers(1, 10**9))
def test_never_more_than_remains(sale_cents: int, before: int, asked: int):
    before %= sale_cents
    remaining = sale_cents - before

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
