"""Faults of the service and its surroundings: nothing acknowledged is lost or doubled, and no response is untrue."""

import pytest

from tests.faults import campaign, catalog
from tests.faults.campaign import Fault
from tests.faults.places import CannotHappenHereError


@pytest.mark.slow
@pytest.mark.parametrize("fault", catalog.FAULTS, ids=lambda fault: fault.name)
async def test_nothing_is_lost_or_doubled(fault: Fault):
    try:
        outcome = await campaign.run(fault, fault.times)
    except CannotHappenHereError as reason:
        pytest.skip(str(reason))

    assert outcome.is_clean, str(outcome)
    assert outcome.acknowledged > 0
