"""The specification's tables "Lead settlement" and "Customer status", cell by cell."""

from itertools import product

import pytest

from storage.rules import settlement
from storage.rules.errors import StatusTransitionRefused
from storage.rules.settlement import CustomerStatus, LeadAuthPolicy, Move, Settlement

SERVER, BROWSER = LeadAuthPolicy.SERVER_REQUIRED, LeadAuthPolicy.BROWSER_ALLOWED
SETTLED = Move(Settlement.SETTLED, changed=True)
STILL_SETTLED = Move(Settlement.SETTLED, changed=False)
PROVISIONAL = Move(Settlement.PROVISIONAL, changed=True)
STILL_PROVISIONAL = Move(Settlement.PROVISIONAL, changed=False)


@pytest.mark.parametrize(
    ("before", "with_key", "policy", "after"),
    [
        (Settlement.NONE, False, SERVER, PROVISIONAL),
        (Settlement.NONE, False, BROWSER, SETTLED),
        (Settlement.NONE, True, SERVER, SETTLED),
        (Settlement.NONE, True, BROWSER, SETTLED),
        (Settlement.PROVISIONAL, False, SERVER, STILL_PROVISIONAL),
        (Settlement.PROVISIONAL, False, BROWSER, SETTLED),
        (Settlement.PROVISIONAL, True, SERVER, SETTLED),
        (Settlement.PROVISIONAL, True, BROWSER, SETTLED),
        (Settlement.SETTLED, False, SERVER, STILL_SETTLED),
        (Settlement.SETTLED, True, SERVER, STILL_SETTLED),
        (Settlement.OUTRANKED, False, BROWSER, Move(Settlement.OUTRANKED, changed=False)),
        (Settlement.OUTRANKED, False, SERVER, Move(Settlement.OUTRANKED, changed=False)),
        (Settlement.OUTRANKED, True, BROWSER, SETTLED),
    ],
)
def test_a_lead_changes_as_the_table_says(before: Settlement, with_key: bool, policy: LeadAuthPolicy, after: Move):  # noqa: FBT001 - a row
    status = None if before == Settlement.NONE else CustomerStatus.LEAD

    assert settlement.move(before, status, with_key=with_key, policy=policy) == after


def test_a_converted_customer_never_becomes_a_lead():
    for before, with_key, policy in product(Settlement, [True, False], LeadAuthPolicy):
        with pytest.raises(StatusTransitionRefused):
            settlement.move(before, CustomerStatus.CONVERSION, with_key=with_key, policy=policy)
