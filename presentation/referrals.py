"""Referral tokens for purchases without a click: issued for one customer of a partner, and verified."""

from datetime import datetime
from typing import Annotated
from urllib.parse import urlsplit

from pydantic import Field

from presentation.api_request import ApiRequest
from presentation.changes import Code
from presentation.operations import operation
from presentation.settings_models import Name
from presentation.view import View, with_fields_of
from storage.management import referrals
from storage.management.referrals import Referral
from storage.rules.errors import OverCap, PartnerNotFound
from web.body import Body, Identifier
from web.response import CreatedResponse


class NewReferral(Body):
    """A customer whom an agent refers for the partner with a code; no field may have personal data.

    `campaign` is what reports name it by, as in a partner's link; `reason` is for the audit log.
    """

    partner_code: Code
    expires_in_hours: Annotated[int, Field(ge=1, le=720)] = 24
    campaign: Code | None = None
    reason: Name | None = None


class SentToken(Body):
    """A referral token."""

    token: Identifier


class AffiliateAttributionView(View):
    """`affiliate_attribution` of the Agentic Commerce Protocol, version 2026-04-17, as an agent sends it to a shop."""

    provider: str
    token: str
    publisher_id: str
    issued_at: datetime
    expires_at: datetime


@with_fields_of(Referral)
class IssuedReferralView(View):
    """A new referral: its `token` is the `click_id` of one customer's lead, sale or payment until `expires_at`.

    `click_id` is what lists show of it; no call accepts that without the token's signature.
    """

    token: str
    affiliate_attribution: AffiliateAttributionView


@operation(PartnerNotFound, OverCap)
async def issue_referral(call: ApiRequest, sent: NewReferral) -> CreatedResponse[IssuedReferralView]:
    """Issue a referral token for one customer of a partner."""
    issued = await call.create(Referral, referrals.issue, **dict(sent))
    token = referrals.token_of(issued.body["click_id"], call.sealer)
    attribution = {name: issued.body[name] for name in ("issued_at", "expires_at")}
    attribution |= {"publisher_id": issued.body["partner_code"], "provider": urlsplit(call.base_url).netloc}
    about = {"token": token, "affiliate_attribution": attribution | {"token": token}}
    return CreatedResponse({**issued.body, **about}, issued.headers)


@operation()
async def verify_referral(call: ApiRequest, sent: SentToken) -> Referral:
    """Return whether a referral token can make a customer now."""
    click_id = referrals.click_of(sent.token, lambda: call.sealer)
    return await call.read(referrals.verify, click_id, at=call.at)
