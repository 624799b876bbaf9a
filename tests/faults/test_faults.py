"""Every fault once, and the drills."""

import pytest

from tests.conftest import ROOT
from tests.faults import campaign, catalog, places
from tests.faults.campaign import Fault
from tests.faults.drills import DRILL, PAGE

FAULTS = [
    pytest.param(fault, id=fault.name, marks=[pytest.mark.citus] if fault.placing is places.distributed else [])
    for fault in catalog.FAULTS
]


@pytest.mark.parametrize("fault", FAULTS)
async def test_nothing_acknowledged_is_lost_or_doubled_and_no_response_is_untrue(fault: Fault):
    outcome = await campaign.run(fault, times=1)

    assert outcome.is_clean, str(outcome)
    assert outcome.journal.acknowledged > 0


def test_the_drills_of_the_operations_guide_are_tests_that_passed():
    drills = list(DRILL.finditer(PAGE.read_text(encoding="utf-8")))

    assert len(drills) == 10
    for drill in drills:
        assert f"def {drill['test']}(" in (ROOT / drill["file"]).read_text(encoding="utf-8")
        assert drill["lost"] == "0"
