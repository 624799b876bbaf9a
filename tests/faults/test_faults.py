"""The most telling faults, in seconds: nothing acknowledged is lost or doubled, and no response is untrue."""

import pytest

from tests.faults import campaign, catalog

FAULTS = {fault.name: fault for fault in catalog.FAULTS}


@pytest.mark.parametrize("name", ["kill -9, SQLite", "answer to COMMIT cut off", "PostgreSQL down", "Redis killed"])
async def test_nothing_is_lost_or_doubled(name: str):
    outcome = await campaign.run(FAULTS[name], times=1)

    assert outcome.is_clean, str(outcome)
    assert outcome.acknowledged > 0
