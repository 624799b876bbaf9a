"""An agent key in the wrong hands cannot move a program's terms beyond the owner's caps, in one step or in many."""

import asyncio
from datetime import datetime
from operator import itemgetter
from typing import Any

import pytest

from storage.engine.audit import Actor
from storage.lists.programs import read_program
from storage.management import agent_caps, program_settings
from storage.management.commission_decisions import decide
from storage.rules.agent_caps import FREEZABLE, AgentCaps
from storage.rules.commission import CommissionStatus
from storage.rules.errors import OverCap
from storage.tracking import currencies
from tests.tables import table
from tests.world import HELD_SINCE, NOW, OLGA, World

THIEF = Actor("agent_key", "1", "Thief")
OTHER_KEY = THIEF._replace(id="2")
STEP, HIGHEST_LEAD = "rate_step", "highest_lead_commission_cents"
TABLE: dict[str, Any] = table("storage/management/agent_caps.toml")
BROWSERS = {"lead_auth_policy": "browser_allowed"}


async def change(acme: World, changes: dict[str, Any], *, by: Actor = THIEF, at: datetime = NOW) -> str | None:
    """Change the program and return the cap that stood in the way, None if there was none."""
    try:
        await acme.do(program_settings.change, changes, actor=by, at=at)
    except OverCap as rejection:
        cap: str = rejection.details["cap"]
        return cap
    return None


async def cap(acme: World, **caps: Any) -> None:
    await acme.do(agent_caps.change, caps, actor=OLGA)


async def test_one_change_stays_within_the_defaults_and_what_is_beyond_changes_nothing(acme: World):
    for each in TABLE["alone"]:
        changes, exceeded, program = each["change"], each.get("cap"), await acme.beside()
        before = await acme.store.read(read_program, program.program_id)

        assert await change(program, {"name": "Stolen", **changes}) == exceeded, changes
        after = await acme.store.read(read_program, program.program_id)
        assert (after.settings == before.settings) is (exceeded is not None), changes
        assert await change(program, changes, by=OLGA) is None  # an owner may


@pytest.mark.parametrize("case", TABLE["in_turn"], ids=itemgetter("what"))
async def test_changes_in_turn_do_not_pass_a_cap_together(acme: World, case: dict[str, Any]):
    if "caps" in case:
        await cap(acme, **case["caps"])
    for each in case["changes"]:
        actor = {"the owner": OLGA, "another key": OTHER_KEY}.get(each.get("by"), THIEF)
        assert await change(acme, each["change"], by=actor, at=each["at"]) == each.get("cap"), each


@pytest.mark.both_databases
async def test_two_changes_at_once_do_not_pass_the_cap_together(acme: World, elsewhere: World):
    """Each alone is one allowed step; the second of the two would be a step of 40 points."""
    results = await asyncio.gather(change(acme, {"commission_rate": 40}), change(elsewhere, {"commission_rate": 0}))

    assert [each for each in results if each] == [STEP]


async def test_a_frozen_setting_is_the_owners(acme: World):
    await cap(acme, frozen_settings=["lead_auth_policy", "domain", "commission_rate"])
    domain = {"domain": "thief.example", "name": "Fine"}
    frozen: list[dict[str, Any]] = [BROWSERS, {"commission_type": "flat", "commission_rate": 2_000}, domain]

    for changes in frozen:
        assert await change(acme, changes) == "frozen_settings", changes
    assert await change(acme, {"hold_days": 0}) is None  # the owner's own list opens what is frozen by default
    assert await change(acme, {"name": "Fine", "domain": "acme.example"}) is None  # unchanged is no change
    assert [await change(acme, changes, by=OLGA) for changes in frozen] == [None] * 3


async def test_what_raises_the_earnings_of_a_public_call_is_frozen_until_an_owner_opens_it(acme: World):
    lead = {"lead_commission_cents": 100}
    assert set(AgentCaps().frozen_settings) <= set(FREEZABLE)
    for changes in ({"hold_days": 0}, {"hold_days": 30}, {"commission_basis": "total"}, BROWSERS):
        assert await change(acme, changes) == "frozen_settings", changes
    assert await change(acme, lead) is None
    assert await change(acme, BROWSERS, by=OLGA) is None

    assert await change(acme, {"lead_commission_cents": 101}) == "frozen_settings"
    assert await change(acme, {"currency": "EUR"}) == "frozen_settings"
    assert await change(acme, {"lead_commission_cents": 0}) is None
    await cap(acme, frozen_settings=[])
    assert await change(acme, lead) is None


async def test_amounts_are_worth_the_same_in_every_currency_and_those_of_an_owner_keep_theirs(acme: World):
    await acme.store.write(currencies.load, [(NOW.date(), "USD", "1.10"), (NOW.date(), "JPY", "165")])
    worth = {"USD": 10_000, "JPY": 15_000, "EUR": 9_091, "KWD": 25_000}  # no rate of KWD is loaded

    for currency, cents in worth.items():
        caps = await acme.store.read(agent_caps.get_caps, acme.program_id, currency)
        assert caps.highest_lead_commission_cents == caps.highest_flat_rate_cents == cents, currency

    await cap(acme, highest_lead_commission_cents=5_000)
    assert await change(acme, {"currency": "EUR"}) == HIGHEST_LEAD
    assert await change(acme, {"currency": "EUR"}, by=OLGA) is None


@pytest.mark.both_databases
async def test_two_approvals_at_once_do_not_pass_the_cap_of_a_day_together(acme: World, elsewhere: World):
    await acme.customer(at=HELD_SINCE)
    earned = [(await acme.sale(f"inv-{n}", occurred_at=HELD_SINCE)).commission_id or 0 for n in range(2)]
    await cap(acme, commissions_in_a_day=1)

    decisions = [
        each.do(decide, commission_id, CommissionStatus.APPROVED, actor=actor)
        for each, commission_id, actor in zip((acme, elsewhere), earned, (THIEF, OTHER_KEY), strict=True)
    ]
    results = await asyncio.gather(*decisions, return_exceptions=True)

    assert sorted(type(each).__name__ for each in results) == ["Commission", "OverCap"]
