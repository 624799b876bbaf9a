"""What several tracking calls share: fields of bodies and answers, CORS without credentials, and their description."""

from collections.abc import Sequence
from datetime import datetime
from functools import cache
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import ConfigDict, Field

from presentation.operations import ALWAYS, ANYONE, Description, Error, Model
from presentation.view import View, with_fields_of
from storage.rules.errors import ApiKeyRotationRequired, InvalidKey, RateLimited
from storage.tracking.received_calls import SENT
from storage.tracking.test_mode import TestModeCall, TestModeResult
from web import dry_run
from web.body import IDEMPOTENCY_KEY, Body, Text
from web.errors import CallWarning, RotationWarning

Cents = Annotated[int, Field(ge=1, le=10**12)]
PartCents = Annotated[int, Field(ge=0, le=10**12)]  # of an amount
ProgramId = Annotated[int, Field(ge=-(2**53), le=2**53)]
KEY = {"programKey": ()}
_SPECIFIED = {"event_id": "eventId", "program_id": "programId"}  # the names of the specification
TEST_MODE = "`additional_data.test_mode` true stores a test event, which touches no attribution and no commission."
KEYED_HEADERS = {
    IDEMPOTENCY_KEY: "With the program key: a repeat with the same body within 30 days only gets the first response.",
    dry_run.HEADER: f"With the program key. {dry_run.MEANING}",
}
ANY_ORIGIN = (b"access-control-allow-origin", b"*")
ALLOWED = (
    (b"access-control-allow-methods", b"POST"),
    (b"access-control-allow-headers", b"content-type, authorization"),
    (b"access-control-max-age", b"86400"),
)
CORS = "Access-Control-Allow-Origin"
PREFLIGHT = Description(
    "preflight",
    "CORS preflight",
    {204: ()},
    tag="tracking",
    response_headers=(CORS, "Access-Control-Allow-Methods", "Access-Control-Allow-Headers", "Access-Control-Max-Age"),
)


COUPON_UNKNOWN = {
    "code": "coupon_unknown",
    "message": "The event is recorded. No coupon in force has this coupon_code, so it decided nothing.",
    "hint": "Create the coupon on its partner's page. One that ended, or whose partner is not active, counts no more.",
}


class AdditionalData(Body):
    """Data that any call may have; unknown members are ignored."""

    test_mode: bool | None = None
    program_id: ProgramId | None = None
    event_name: Text | None = None


class TrackingBody(Body):
    """The body of a call that records an event."""

    additional_data: AdditionalData | None = None

    @property
    def extra(self) -> AdditionalData:
        return self.additional_data or _NOTHING

    def logged(self) -> dict[str, Any]:
        """Return the fields that the log of rejected calls stores: identifiers, and the amount of a live event."""
        fields = {name: getattr(self, name, None) for name in SENT}
        return fields | {"amount_cents": None, "currency": None} if self.extra.test_mode else fields

    def test_event(self, kind: str, at: datetime, **others: Any) -> TestModeCall:
        """Return the test event of a body: the fields that it shares with the event, and others."""
        sent = {name: getattr(self, name) for name in TestModeCall._fields if hasattr(self, name)}
        extra = {"program_id": self.extra.program_id, "event_name": self.extra.event_name}
        return TestModeCall(**{"kind": kind, "at": at, **sent, **extra, **others})


class FlaggableView(View):
    """A successful response; `warnings` say that the key is flagged, or what to know about the call."""

    success: Literal[True]
    warnings: Sequence[RotationWarning | CallWarning] = ()


class EventDataView(View):
    """An answer's data about a stored event, under the names of the specification."""

    model_config = ConfigDict(alias_generator=lambda name: _SPECIFIED.get(name, name))


@with_fields_of(TestModeResult)
class TestDataView(EventDataView):
    """A stored test event; `programId` is 0 if the request named no program."""

    test_mode: Literal[True]


class TestRecordedView(FlaggableView):
    """A test-mode call was stored."""

    message: str
    data: TestDataView


def event_data(row: NamedTuple, **others: object) -> dict[str, object]:
    """Return an answer's data about a stored event: the fields of its row, and others."""
    return dict(zip(_names(type(row)), row, strict=True), **others)


@cache
def _names(row: type[NamedTuple]) -> list[str]:
    return [_SPECIFIED.get(name, name) for name in row._fields]


def keyed_call(name: str, summary: str, *errors: Error, responses: tuple[Model, ...], **options: Any) -> Description:
    """Describe a call that takes the program key."""
    errors = (*errors, InvalidKey, ApiKeyRotationRequired, RateLimited, *ALWAYS)
    rotation = ("Deprecation", "Sunset", "Link", "Idempotency-Replayed")
    keyed = Description(name, summary, {200: responses}, errors, tag="tracking", security=(KEY,))
    return keyed._replace(response_headers=rotation, **options)


def public_call(name: str, summary: str, *errors: Error, responses: tuple[Model, ...], **options: Any) -> Description:
    """Describe a call that pages of any origin may make, with or without the program key."""
    described = keyed_call(name, summary, *errors, responses=responses, **options)
    return described._replace(security=(ANYONE, KEY), response_headers=(CORS, *described.response_headers))


_NOTHING = AdditionalData()
