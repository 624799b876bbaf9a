"""The fields that several tracking calls share."""

from functools import cache
from typing import Annotated, Any, NamedTuple

from pydantic import ConfigDict, Field

from presentation.view import View
from storage.tracking.rejection_log import SENT
from web.body import Body, Text

Cents = Annotated[int, Field(ge=1, le=10**12)]
PartCents = Annotated[int, Field(ge=0, le=10**12)]  # of an amount
ProgramId = Annotated[int, Field(ge=-(2**53), le=2**53)]


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
        """The additional data, all of it absent if none was sent."""
        return self.additional_data or _NOTHING

    def logged(self) -> dict[str, Any]:
        """Return the fields that the log of rejected calls stores: identifiers, and the amount of a live event."""
        fields = {name: getattr(self, name, None) for name in SENT}
        return fields | {"amount_cents": None, "currency": None} if self.extra.test_mode else fields


class EventDataView(View):
    """An answer's data about a stored event, under the names of the specification."""

    model_config = ConfigDict(alias_generator=lambda name: _SPECIFIED.get(name, name))


def event_data(row: NamedTuple, **others: object) -> dict[str, object]:
    """Return an answer's data about a stored event: the fields of its row, and others."""
    return dict(zip(_names(type(row)), row, strict=True), **others)


@cache
def _names(row: type[NamedTuple]) -> list[str]:
    return [_SPECIFIED.get(name, name) for name in row._fields]


_SPECIFIED: dict[str, str] = {"event_id": "eventId", "program_id": "programId"}
_NOTHING = AdditionalData()
