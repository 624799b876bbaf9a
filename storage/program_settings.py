"""A program's settings: what owners and agents may read and change, and how a program is created with them."""

from datetime import datetime
from typing import NamedTuple

from sqlalchemy import Connection, insert

from storage import currencies, program_keys
from storage.rules.attribution import AttributionModel, ProgramStatus
from storage.rules.commission import CommissionType
from storage.rules.settlement import LeadAuthPolicy
from storage.tables import commission_terms, programs


class Settings(NamedTuple):
    """The settings; `rate` is basis points when `commission_type` is percent, cents per sale when it is flat."""

    name: str
    domain: str
    currency: str = "USD"
    commission_type: CommissionType = CommissionType.PERCENT
    rate: int = 2000
    lead_commission_cents: int = 0
    recurring_months: int | None = None
    attribution_model: AttributionModel = AttributionModel.LAST_CLICK
    cookie_window_days: int = 60
    attribution_window_days: int = 60
    hold_days: int = 15
    lead_auth_policy: LeadAuthPolicy = LeadAuthPolicy.SERVER_REQUIRED
    platform_fee_bps: int = 0
    status: ProgramStatus = ProgramStatus.ACTIVE


TERMS = ("commission_type", "rate", "lead_commission_cents", "recurring_months", "platform_fee_bps")


def create(connection: Connection, workspace_id: int, settings: Settings, *, at: datetime) -> int:
    """Create a program with its first commission terms and its key; return its id.

    Raises CurrencyNotSupported for a currency that sales in USD could not be converted to.
    """
    currencies.convert(connection, 1, source="USD", target=settings.currency, day=at.date())
    values = settings._asdict()
    terms = {name: values.pop(name) for name in TERMS}
    owner = {"workspace_id": workspace_id, "terms_version": 1, "revision": 1, "created_at": at}
    created = connection.execute(insert(programs).values(**values, **owner).returning(programs.c.id))
    program_id: int = created.scalar_one()
    connection.execute(insert(commission_terms).values(program_id=program_id, version=1, created_at=at, **terms))
    program_keys.create(connection, program_id, at=at)
    return program_id
