"""Referrals: an agent refers a customer who follows no link; a click that counts nowhere stands for theirs.

A referral's token is its click id, which names the program and the expiry, with a signature. Lists and logs may show
the click id: no call accepts it alone. As any click, the database limits it to one customer.
"""

from collections.abc import Callable
from datetime import datetime, timedelta
from enum import StrEnum
from typing import NamedTuple
from urllib.parse import urlencode

from sqlalchemy import Connection, select

from storage.engine import audit
from storage.engine.audit import By, Change
from storage.engine.sealing import Sealer
from storage.management import agent_caps
from storage.rules import attribution, click_details, keys
from storage.rules.attribution import PartnerStatus
from storage.rules.click_details import CAMPAIGN, NOWHERE, Agent
from storage.rules.errors import ServiceError, ValidationError
from storage.tables import partners, programs
from storage.tables.columns import from_millis
from storage.tracking import clicks, program_terms
from storage.tracking.clicks import Click, PartnerInactive
from storage.tracking.customers import Registry

_LONGEST_CLICK_ID = 64
_PURPOSE = "referral tokens"


class ReferralState(StrEnum):
    """Whether a token can make a customer: not if it has made one, is too old, or its partner has left.

    `unknown` is a token that is forged, or not of this program.
    """

    VALID = "valid"
    USED = "used"
    EXPIRED = "expired"
    PARTNER_INACTIVE = "partner_inactive"
    UNKNOWN = "unknown"


class Referral(NamedTuple):
    """The click that stands for a referral, which can make one customer until `expires_at`; no more of an unknown."""

    state: ReferralState
    click_id: str | None = None
    partner_id: int | None = None
    partner_code: str | None = None
    issued_at: datetime | None = None
    expires_at: datetime | None = None


def issue(
    connection: Connection,
    program_id: int,
    *,
    partner_code: str,
    expires_in_hours: int,
    campaign: str | None = None,
    reason: str | None = None,
    by: By,
) -> Referral:
    """Issue a referral of a partner, who could get a click now. Raises PartnerNotFound, ValidationError, OverCap."""
    agent_caps.count(connection, program_id, agent_caps.ISSUED, 0, by=by)
    domain = connection.execute(select(programs.c.domain).where(programs.c.id == program_id)).scalar_one()
    sent = {attribution.AFF: partner_code} | ({CAMPAIGN: campaign} if campaign else {})
    url = f"{attribution.site_url(domain)}/?{urlencode(sent)}"
    until = by.at.replace(microsecond=0) + timedelta(hours=expires_in_hours)
    described = click_details.describe(url, Agent(), NOWHERE, None)
    about: dict[str, str] = {"filtered": attribution.REFERRAL, "dimensions": described}
    [clicked] = clicks.record(
        connection, [Click(program_id, partner_code, url, by.at, keys.click_id(program_id, by.at, until), **about)]
    )
    if isinstance(clicked, ServiceError):
        raise clicked
    if isinstance(clicked, PartnerInactive):
        raise ValidationError.of("partner_code", clicked.message)
    referral = verify(connection, program_id, clicked.click_id, at=by.at)
    said = {"click_id": clicked.click_id, "campaign": campaign, "expires_at": until.isoformat(), "reason": reason}
    entry = Change("partner.refer", referral.partner_id, after={name: value for name, value in said.items() if value})
    audit.write(connection, program_id, [entry], by=by)
    return referral


def verify(connection: Connection, program_id: int, click_id: str | None, *, at: datetime) -> Referral:
    """Return the referral of a click id, and what it can do now."""
    customer = Registry(connection, [(program_id, None, click_id)], at=at).by_click(click_id)
    if customer is None or customer.program_id != program_id or keys.UNTIL not in customer.click_id:
        return Referral(ReferralState.UNKNOWN)
    if not customer.is_new:
        state = ReferralState.USED
    elif not customer.is_in_time(at, program_terms.load_one(connection, program_id).attribution_window_days):
        state = ReferralState.EXPIRED
    else:
        has_left = customer.partner_status == PartnerStatus.INACTIVE
        state = ReferralState.PARTNER_INACTIVE if has_left else ReferralState.VALID
    partner = (partners.c.program_id == program_id, partners.c.id == customer.partner_id)
    code = connection.execute(select(partners.c.code).where(*partner)).scalar_one()
    times = (from_millis(keys.click_millis(customer.click_id)), keys.click_until(customer.click_id))
    return Referral(state, customer.click_id, customer.partner_id, code, *times)


def token_of(click_id: str, sealer: Sealer) -> str:
    """Return the token of a referral's click."""
    return f"{click_id}.{sealer.sign(_PURPOSE, click_id)}"


def click_of(named: str | None, sealer: Callable[[], Sealer]) -> str | None:
    """Return the click id that a call names, by itself or in a token; for a forged token one that no click has."""
    if named is None or keys.UNTIL not in named:
        return named
    click_id, _, signature = named.rpartition(".")
    return click_id if sealer().has_signed(_PURPOSE, click_id, signature) else f"{named[:_LONGEST_CLICK_ID]}."
