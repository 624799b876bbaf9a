"""What the dashboard and the agent API take: programs, partners and commissions as request bodies."""

import re
from typing import Annotated, Any

from pydantic import AfterValidator, Field, StringConstraints

from storage.rules.attribution import AttributionModel, PartnerStatus, ProgramStatus
from storage.rules.commission import CommissionStatus, CommissionType
from storage.rules.commission_rate import MOST_CENTS
from storage.rules.settlement import LeadAuthPolicy
from web.body import Body, Identifier

_NO_CONTROL = r"^[^\x00-\x1f\x7f-\u009f]*$"
LARGEST_ROW_ID = 2**31 - 1
_SCHEME = re.compile(r"^https?://", re.IGNORECASE)
_HOST = re.compile(r"[^\s/?#@\\]+")


def _named(text: str) -> str:
    if not text.strip():
        raise ValueError("Must not be blank")
    return text.strip()


def _host(text: str) -> str:
    """Keep the host of what people paste: `https://Shop.example/` is shop.example."""
    host = _SCHEME.sub("", text.strip()).partition("/")[0].lower()
    if not _HOST.fullmatch(host):
        raise ValueError("Must be a host name such as shop.example")
    return host


Name = Annotated[str, StringConstraints(min_length=1, max_length=512, pattern=_NO_CONTROL), AfterValidator(_named)]
Domain = Annotated[Identifier, AfterValidator(_host)]
Currency = Annotated[str, StringConstraints(pattern=r"^[A-Za-z]{3}$", to_upper=True)]
Email = Annotated[
    str, StringConstraints(max_length=255, pattern=r"^[^\s@\x00-\x1f\x7f-\u009f]+@[^\s@\x00-\x1f\x7f-\u009f]+$")
]
Code = Annotated[str, StringConstraints(min_length=1, max_length=64, pattern=r"^[A-Za-z0-9._~-]+$")]
Rate = Annotated[float, Field(ge=0, le=MOST_CENTS, allow_inf_nan=False)]
Percent = Annotated[float, Field(ge=0, le=100, allow_inf_nan=False)]
Cents = Annotated[int, Field(ge=0, le=MOST_CENTS)]
Days = Annotated[int, Field(ge=1, le=3650)]
HoldDays = Annotated[int, Field(ge=0, le=3650)]
Months = Annotated[int, Field(ge=0, le=1200)]
RowId = Annotated[int, Field(ge=1, le=LARGEST_ROW_ID)]


class Changes(Body):
    """A body of which only the fields that were sent count; the defaults here are never read."""

    def sent(self) -> dict[str, Any]:
        """Return the fields that were sent."""
        return self.model_dump(exclude_unset=True)


class ProgramSettings(Changes):
    """The settings of a program that an agent may change; send those that shall."""

    name: Name = ""
    domain: Domain = ""
    currency: Currency = "USD"
    commission_type: CommissionType = CommissionType.PERCENT
    commission_rate: Rate = 20
    lead_commission_cents: Cents = 0
    recurring_months: Months | None = None
    attribution_model: AttributionModel = AttributionModel.LAST_CLICK
    cookie_window_days: Days = 60
    attribution_window_days: Days = 60
    hold_days: HoldDays = 15
    lead_auth_policy: LeadAuthPolicy = LeadAuthPolicy.SERVER_REQUIRED
    platform_fee_rate: Percent = 0


class ProgramChange(ProgramSettings):
    """The settings of a program that its owner may change: those, and whether it takes new clicks."""

    status: ProgramStatus = ProgramStatus.ACTIVE


class NewProgram(ProgramChange):
    """A new program; `workspace_id` may be left out by an owner of one workspace."""

    name: Name
    domain: Domain
    workspace_id: RowId | None = None


class PartnerChange(Changes):
    """What may change about a partner; send what shall."""

    name: Name = ""
    email: Email | None = None
    code: Code = ""
    status: PartnerStatus = PartnerStatus.ACTIVE


class NewPartner(PartnerChange):
    """A new partner; `code` is what their links carry as `?aff=`."""

    name: Name
    code: Code


class CommissionChange(Body):
    """Where a commission goes: approved, rejected, or paid."""

    status: CommissionStatus


class CommissionChanges(CommissionChange):
    """Where several commissions go."""

    ids: Annotated[list[Annotated[int, Field(ge=1, le=2**53)]], Field(min_length=1, max_length=200)]
