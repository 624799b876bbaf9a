"""The most telling faults, in seconds: nothing acknowledged is lost or doubled, and no response is untrue."""

import pytest

from tests.faults import campaign, catalog
from tests.faults.places import CannotHappenHereError

FAULTS = {fault.name: fault for fault in catalog.FAULTS}


@pytest.mark.slow
@pytest.mark.parametrize("name", ["kill -9, SQLite", "answer to COMMIT cut off", "PostgreSQL down", "Redis killed"])
async def test_nothing_is_lost_or_doubled(name: str):
    try:
        outcome = await campaign.run(FAULTS[name], times=1)
    except CannotHappenHereError as reason:
        pytest.skip(str(reason))

    assert outcome.is_clean, str(outcome)
    assert outcome.acknowledged > 0
