"""Test mode: a call with `additional_data.test_mode` proves that an integration works, and nothing is earned."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Literal

from presentation.view import with_fields_of
from storage.tracking import test_mode
from storage.tracking.received_calls import PresentedKey, Public
from storage.tracking.test_mode import TestModeCall, TestModeResult
from tracking_api.calls.call import Answer, Recording
from tracking_api.calls.caller import TrackingCaller
from tracking_api.calls.fields import EventDataView, FlaggableView, TrackingBody, event_data

DESCRIPTION = "`additional_data.test_mode` true stores a test event, which touches no attribution and no commission."


@with_fields_of(TestModeResult)
class TestDataView(EventDataView):
    """A stored test event; `programId` is 0 if the request named no program."""

    test_mode: Literal[True]


class TestRecordedView(FlaggableView):
    """A test-mode call was stored."""

    message: str
    data: TestDataView


def event(kind: str, body: TrackingBody, caller: TrackingCaller, **others: Any) -> TestModeCall:
    """Return the test event of a body: the fields that it shares with the event, and others."""
    sent = {name: getattr(body, name) for name in TestModeCall._fields if hasattr(body, name)}
    extra = {"program_id": body.extra.program_id, "event_name": body.extra.event_name}
    return TestModeCall(**{"kind": kind, "at": caller.at, **sent, **extra, **others})


def recording(
    event: TestModeCall,
    key: PresentedKey | None,
    *,
    public: Public | None = None,
    warnings: Sequence[Mapping[str, Any]] = (),
) -> Recording:
    """Return what stores a test event, with the key that was presented or without one."""
    operation = test_mode.record_without_key if key is None else test_mode.record_with_key
    return Recording(operation, event, partial(_answer, event.kind), key, public, warnings)


def _answer(call: str, stored: TestModeResult) -> Answer:
    return {"success": True, "message": f"Test {call} recorded.", "data": event_data(stored, test_mode=True)}
