"""Test mode: a call with `additional_data.test_mode` proves that an integration works, and nothing is earned."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Literal

from presentation.view import with_fields_of
from storage.tracking import test_mode
from storage.tracking.principals import PresentedKey
from storage.tracking.test_mode import TestModeCall, TestModeResult
from tracking_api.calls.call import Answer, Recording
from tracking_api.calls.fields import EventDataView, event_data
from tracking_api.calls.rotation import FlaggableView

DESCRIPTION = "`additional_data.test_mode` true stores a test event, which touches no attribution and no commission."


@with_fields_of(TestModeResult)
class TestDataView(EventDataView):
    """A stored test event; `programId` is 0 if the request named no program."""

    __test__ = False
    test_mode: Literal[True]


class TestRecordedView(FlaggableView):
    """A test-mode call was stored."""

    __test__ = False
    message: str
    data: TestDataView


def recording(
    event: TestModeCall,
    key: PresentedKey | None,
    *,
    program_id: int | None = None,
    warnings: Sequence[Mapping[str, Any]] = (),
) -> Recording:
    """Return what stores a test event, with the key that was presented or without one."""
    operation = test_mode.record_without_key if key is None else test_mode.record_with_key
    return Recording(operation, event, partial(_answer, event.kind), key, program_id, warnings)


def _answer(call: str, stored: TestModeResult) -> Answer:
    return {"success": True, "message": f"Test {call} recorded.", "data": event_data(stored, test_mode=True)}
