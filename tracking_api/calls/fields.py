"""What several tracking calls share: fields of bodies and answers, CORS without credentials, and their description."""

import tomllib
from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import ConfigDict, Field

from presentation.operations import ALWAYS, ANYONE, Description, Model
from presentation.view import View, with_fields_of
from storage.rules.errors import BY_CODE
from storage.tracking.received_calls import SENT
from storage.tracking.test_mode import TestModeCall, TestModeResult
from web import dry_run
from web.body import Body, Text
from web.errors import CallWarning, RotationWarning

Cents = Annotated[int, Field(ge=1, le=10**12)]
PartCents = Annotated[int, Field(ge=0, le=10**12)]  # of an amount
ProgramId = Annotated[int, Field(ge=-(2**53), le=2**53)]
TEXTS = tomllib.loads(Path(__file__).with_name("texts.toml").read_text(encoding="utf-8"))
WARNINGS: Mapping[str, Mapping[str, str]] = TEXTS["warnings"]
_SPECIFIED = {"event_id": "eventId", "program_id": "programId"}  # the names of the specification
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


def described(call: str, *responses: Model, body: type[Body] | None = None) -> Description:
    """Return the description of a call as `texts.toml` has it: what its kind has in common, and its own."""
    own, common = TEXTS["calls"][call], TEXTS["kinds"][TEXTS["calls"][call]["kind"]]
    return Description(
        own["name"],
        own["summary"],
        {200: responses},
        (*(BY_CODE[code] for code in (*own.get("errors", ()), *common["errors"])), *ALWAYS),
        body=body,
        description=own.get("description") or common.get("description", ""),
        tag="tracking",
        security=[{each: ()} if each else ANYONE for each in common["security"]],
        query=common.get("query", {}),
        headers={name: text.format(dry_run=dry_run.MEANING) for name, text in own.get("headers", {}).items()},
        response_headers=common["response_headers"],
    )


_NOTHING = AdditionalData()
