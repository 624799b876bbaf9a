"""The caps that an owner sets for agent keys, each declared once: API, form and docs follow from it."""

from collections import defaultdict
from collections.abc import Iterable
from datetime import datetime, timedelta
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

from storage.rules.commission import CommissionType, Number
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
    replayed_calls_in_a_day: int = 1_000
    frozen_settings: tuple[str, ...] = ("commission_basis", "hold_days", "lead_auth_policy")
    two_keys_to_pay: bool = False
    apply_own_plans: bool = False


class CapUse(NamedTuple):
    """How far a cap is used, in its published unit: what `uses` it, what `remains` of the `limit` then, and for what.

    `of` is the rate or the setting, or what is done in a day: approved, paid, credited or replayed.
    """

    cap: str
    of: str
    uses: Number
    remains: Number
    limit: Number


CAPS, SECTIONS = declared(AgentCaps(), Path(__file__).with_suffix(".toml"))


def added_up(uses: Iterable[CapUse]) -> list[CapUse]:
    """Return what several changes use of each cap: those of a day add up, of the others the largest counts."""
    found: dict[tuple[str, str], CapUse] = {}
    for each in uses:
        so_far = found.get((each.cap, each.of), each._replace(uses=0))
        sums = so_far.uses + each.uses if "in_a_day" in each.cap else max(so_far.uses, each.uses)
        found[each.cap, each.of] = each._replace(uses=sums, remains=min(so_far.remains, each.remains))
    return [*found.values()]


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


def ceilings(before: ProgramSettings, after: ProgramSettings) -> list[tuple[str, str, int]]:
    """Return the ceilings of what a change sets, what for, and to what. Amounts count again in a new currency."""
    is_flat = after.commission_type == CommissionType.FLAT
    rate, of_rate = ("highest_flat_rate_cents", "currency") if is_flat else ("highest_rate_bps", "commission_type")
    limited = (  # each with the value that it is for, and what else makes it count anew
        (rate, "rate", {"commission_type", of_rate}),
        ("highest_rate_bps", "platform_fee_bps", set[str]()),
        ("highest_lead_commission_cents", "lead_commission_cents", {"currency"}),
    )
    return [
        (cap, name.removesuffix("_bps"), getattr(after, name))
        for cap, name, others in limited
        if any(getattr(before, each) != getattr(after, each) for each in {name, *others})
    ]


def steps(
    caps: AgentCaps, versions: Iterable[Any], asked: ProgramSettings, *, since: datetime
) -> list[tuple[str, str, Fraction]]:
    """Return how far a change by an agent key uses the caps on a rate's steps, after the versions of a program's terms.

    A rate may move `rate_change_in_30_days` away from where agent keys found it at any time of these days: many small
    steps add up, and a step back makes room. A percentage and an amount per sale are two rates, each with its own last
    value, 0 if it never had one.
    """
    made = defaultdict[str, list[Fraction]](list)
    last = defaultdict[str, Fraction](Fraction)
    for terms in (*versions, asked):
        for rate, value in _rates(caps, terms).items():
            if terms is asked or (terms.by_agent and terms.created_at > since):
                made[rate].append(value - last[rate])
            last[rate] = value
    moved = {rate: made[rate] for rate in _rates(caps, asked) if made[rate][-1]}
    furthest = {rate: max(abs(sum(each[n:], Fraction(0))) for n in range(len(each))) for rate, each in moved.items()}
    return [
        *(("rate_step_bps", rate, abs(each[-1])) for rate, each in moved.items()),
        *(("rate_change_in_30_days_bps", rate, each) for rate, each in furthest.items()),
    ]


def _rates(caps: AgentCaps, terms: Any) -> dict[str, Fraction]:
    """Return what agent keys can move, in basis points; an amount per sale as its share of the highest."""
    if terms.commission_type == CommissionType.PERCENT:
        share = Fraction(terms.rate)
    else:
        share = Fraction(terms.rate * BPS, max(caps.highest_flat_rate_cents, 1))
    return {terms.commission_type: share, "platform_fee": Fraction(terms.platform_fee_bps)}
