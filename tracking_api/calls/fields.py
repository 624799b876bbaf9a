"""Fields that several tracking calls share."""

from typing import Annotated

from pydantic import Field

from web.body import Body, Text

Cents = Annotated[int, Field(ge=1, le=10**12)]
ProgramId = Annotated[int, Field(ge=-(2**53), le=2**53)]


class AdditionalData(Body):
    """Data that any call may have; unknown members are ignored."""

    test_mode: bool | None = None
    program_id: ProgramId | None = None
    event_name: Text | None = None


NO_ADDITIONAL_DATA = AdditionalData()
DEFAULT_CURRENCY = "USD"
