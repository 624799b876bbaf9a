"""A program's settings, from which storage, APIs, forms and docs derive (docs/decisions/0015-settings.md)."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from storage.rules.attribution import AttributionModel, CouponWins, OldLinks, PaidAds, ProgramStatus
from storage.rules.commission import CommissionBasis, CommissionType
from storage.rules.errors import FieldError, ValidationError
from storage.rules.setting_kinds import Setting, declared
from storage.rules.settlement import LeadAuthPolicy


class ProgramSettings(NamedTuple):
    """A program's settings as stored, in the order of the APIs."""

    name: str
    domain: str
    currency: str = "USD"
    commission_type: CommissionType = CommissionType.PERCENT
    rate: int = 2000
    commission_basis: CommissionBasis = CommissionBasis.BEFORE_TAX
    lead_commission_cents: int = 0
    minimum_order_cents: int = 0
    recurring_months: int | None = None
    attribution_model: AttributionModel = AttributionModel.LAST_CLICK
    coupon_wins: CouponWins = CouponWins.CLICK
    cookie_window_days: int = 60
    attribution_window_days: int = 60
    hold_days: int = 15
    lead_auth_policy: LeadAuthPolicy = LeadAuthPolicy.SERVER_REQUIRED
    paid_ads: PaidAds = PaidAds.ALLOWED
    further_domains: str | None = None
    old_links: OldLinks = OldLinks.NONE
    minimum_payout_cents: int = 0
    confirm_payouts: bool = False
    payer_iban: str | None = None
    platform_fee_bps: int = 0
    partners_see_amounts: bool = False
    partners_may_apply: bool = False
    status: ProgramStatus = ProgramStatus.ACTIVE


SETTINGS, SECTIONS = declared(ProgramSettings("", ""), Path(__file__).with_suffix(".toml"))
BY_NAME = {setting.public_name: setting for setting in SETTINGS}


def stored(
    changes: Mapping[str, Any], settings: Iterable[Setting] = SETTINGS, *, kind: CommissionType = CommissionType.PERCENT
) -> dict[str, Any]:
    """Return changes from an API in their stored form; `kind` is the type before the change. Raises ValidationError."""
    values = dict(changes)
    new_kind = values.get("commission_type", kind)
    if new_kind != kind and values.keys().isdisjoint({"rate", "commission_rate"}):
        missing = "Required with a new commission_type: percent and cents are not the same number"
        raise ValidationError(fields=[FieldError("commission_rate", missing)])
    for each in settings:
        if each.public_name in values:
            values[each.name] = each.stored(values.pop(each.public_name), new_kind)
    return values


def published(values: Any, settings: Iterable[Setting] = SETTINGS) -> dict[str, Any]:
    """Return the values of settings under the names and in the units of the APIs."""
    kind = getattr(values, "commission_type", CommissionType.PERCENT)
    return {each.public_name: each.published(getattr(values, each.name), kind) for each in settings}
