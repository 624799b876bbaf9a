"""The caps that an owner sets for agent keys, each declared once: API, form and docs follow from it."""

from collections import defaultdict
from collections.abc import Iterable
from datetime import datetime, timedelta
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

from storage.rules.commission import CommissionType
from storage.rules.money import BPS
from storage.rules.setting_kinds import declared
from storage.rules.settings import SETTINGS, ProgramSettings
from storage.rules.settlement import LeadAuthPolicy

WINDOW = timedelta(days=30)
FREEZABLE = tuple(setting.public_name for setting in SETTINGS if not setting.owner_only)


class AgentCaps(NamedTuple):
    """The caps of a program's agent keys; amounts are in the program's currency, their defaults here in USD."""

    rate_step_bps: int = 2000
    rate_change_in_30_days_bps: int = 2000
    highest_rate_bps: int = 5000
    highest_flat_rate_cents: int = 10_000
    highest_lead_commission_cents: int = 10_000
    commissions_in_a_day: int = 100
    amount_in_a_day_cents: int = 100_000
    referrals_in_a_day: int = 1_000
    frozen_settings: tuple[str, ...] = ("commission_basis", "hold_days", "lead_auth_policy")
    two_keys_to_pay: bool = False
    apply_own_plans: bool = False


CAPS, SECTIONS = declared(AgentCaps(), Path(__file__).with_suffix(".toml"))


def frozen(caps: AgentCaps, before: ProgramSettings, after: ProgramSettings) -> list[str]:
    """Return the frozen settings that a change would change; a new commission type gives the rate a new meaning."""
    changed = {each.public_name for each in SETTINGS if getattr(before, each.name) != getattr(after, each.name)}
    if "commission_type" in changed:
        changed.add("commission_rate")
    # Where anyone can settle a lead, raising its commission is as frozen as letting them.
    raised = after.lead_commission_cents > before.lead_commission_cents or "currency" in changed
    if raised and after.lead_commission_cents and after.lead_auth_policy == LeadAuthPolicy.BROWSER_ALLOWED:
        changed.add("lead_auth_policy")
    return [name for name in caps.frozen_settings if name in changed]


def exceeded_ceiling(caps: AgentCaps, before: ProgramSettings, after: ProgramSettings) -> str | None:
    """Return the ceiling that a change exceeds. Amounts are checked again in a new currency."""
    is_flat = after.commission_type == CommissionType.FLAT
    rate, of_rate = ("highest_flat_rate_cents", "currency") if is_flat else ("highest_rate_bps", "commission_type")
    ceilings = (  # each with the value that it is for, and what else makes it count anew
        (rate, "rate", {"commission_type", of_rate}),
        ("highest_rate_bps", "platform_fee_bps", set[str]()),
        ("highest_lead_commission_cents", "lead_commission_cents", {"currency"}),
    )
    for cap, name, others in ceilings:
        changed = any(getattr(before, each) != getattr(after, each) for each in {name, *others})
        if changed and getattr(after, name) > getattr(caps, cap):
            return cap.removesuffix("_bps")
    return None


def exceeded_step(caps: AgentCaps, versions: Iterable[Any], asked: ProgramSettings, *, since: datetime) -> str | None:
    """Return the cap on steps that a change by an agent key exceeds, after the versions of a program's terms.

    A rate may move `rate_change_in_30_days` away from where agent keys found it at any time of these days: many small
    steps add up, and a step back makes room. A percentage and an amount per sale are two rates, each with its own last
    value, 0 if it never had one.
    """
    steps = defaultdict[str, list[Fraction]](list)
    last = defaultdict[str, Fraction](Fraction)
    for terms in (*versions, asked):
        for rate, value in _rates(caps, terms).items():
            if terms is asked or (terms.by_agent and terms.created_at > since):
                steps[rate].append(value - last[rate])
            last[rate] = value
    cap = None
    for each in (steps[rate] for rate in _rates(caps, asked)):
        moved = max(abs(sum(each[start:], Fraction(0))) for start in range(len(each)))
        if each[-1] and moved > caps.rate_change_in_30_days_bps:
            cap = "rate_change_in_30_days"
        if abs(each[-1]) > caps.rate_step_bps:
            return "rate_step"
    return cap


def _rates(caps: AgentCaps, terms: Any) -> dict[str, Fraction]:
    """Return what agent keys can move, in basis points; an amount per sale as its share of the highest."""
    if terms.commission_type == CommissionType.PERCENT:
        share = Fraction(terms.rate)
    else:
        share = Fraction(terms.rate * BPS, max(caps.highest_flat_rate_cents, 1))
    return {terms.commission_type: share, "platform_fee": Fraction(terms.platform_fee_bps)}
