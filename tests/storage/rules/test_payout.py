"""What a payout sets off of what a partner owes."""

import pytest

from storage.rules.payout import Owed, owed


@pytest.mark.parametrize(
    ("settled_cents", "expected"),
    [(-5_000, Owed(3_000, 0, 0)), (-1_000, Owed(1_000, 0, 2_000)), (1_000, Owed(0, 1_000, 4_000))],
    ids=["more than the payout", "less than the payout", "nothing owed"],
)
def test_no_more_of_a_debt_is_set_off_than_the_payout_is_worth(settled_cents: int, expected: Owed):
    assert owed(3_000, settled_cents) == expected
