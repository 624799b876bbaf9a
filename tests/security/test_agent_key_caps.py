"""An agent key in the wrong hands: it cannot move a program's terms beyond the owner's caps, in one step or in many."""

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import storage
from storage.engine.audit import Actor
from storage.management import agent_caps, program_settings
from storage.rules.errors import OverCap
from tests import world
from tests.security.conftest import on_each_database
from tests.world import NOW, World

OLGA = Actor("user", "1", "olga@acme.example")
THIEF = Actor("agent_key", "1", "Thief")


async def change(acme: World, *, by: Actor = THIEF, at: datetime = NOW, **changes: Any) -> str | None:
    """Change the program and return the cap that stood in the way, None if there was none."""
    try:
        await acme.store.write(program_settings.change, acme.program_id, changes, actor=by, at=at, lane=acme.program_id)
    except OverCap as rejection:
        cap: str = rejection.details["cap"]
        return cap
    return None


async def cap(acme: World, **caps: Any) -> None:
    await acme.store.write(agent_caps.change, acme.program_id, caps, actor=OLGA, at=NOW)


async def shown(acme: World) -> Mapping[str, Any]:
    program = await acme.store.read(program_settings.get_program, acme.program_id)
    settings: Mapping[str, Any] = program.settings._asdict()
    return settings


ONE_CHANGE: list[tuple[dict[str, Any], str | None]] = [
    ({"commission_rate": 40}, None),
    ({"commission_rate": 0}, None),
    ({"commission_rate": 40.01}, "rate_step"),
    ({"commission_rate": 51}, "highest_rate"),
    ({"platform_fee_rate": 20.01}, "rate_step"),
    ({"platform_fee_rate": 100}, "highest_rate"),
    ({"lead_commission_cents": 10_000}, None),
    ({"lead_commission_cents": 10_001}, "highest_lead_commission_cents"),
    ({"commission_type": "flat", "commission_rate": 2_000}, None),
    ({"commission_type": "flat", "commission_rate": 2_001}, "rate_step"),
    ({"commission_type": "flat", "commission_rate": 10_001}, "highest_flat_rate_cents"),
]


async def test_one_change_stays_within_the_defaults(acme: World):
    for changes, exceeded in ONE_CHANGE:
        program = await world.program_of(acme.store, acme.workspace_id, acme.owner_id)
        before = await shown(program)

        assert await change(program, name="Stolen", **changes) == exceeded, changes
        assert (await shown(program) == before) is (exceeded is not None)  # nothing of a rejected request is applied
        assert await change(program, by=OLGA, **changes) is None  # an owner may


async def test_many_small_steps_are_one_large_one(acme: World):
    results = [await change(acme, commission_rate=20 + 5 * n, at=NOW + timedelta(days=n)) for n in range(1, 6)]

    assert results == [None, None, None, None, "rate_change_in_30_days"]
    assert (await shown(acme))["rate"] == 4_000


async def test_the_window_moves_on_after_30_days(acme: World):
    assert await change(acme, commission_rate=40) is None

    almost = NOW + timedelta(days=30) - timedelta(milliseconds=1)
    assert await change(acme, commission_rate=41, at=almost) == "rate_change_in_30_days"
    assert await change(acme, commission_rate=41, at=NOW + timedelta(days=30)) is None


async def test_a_detour_gives_no_room(acme: World):
    """30 days after a step down, the way back up and beyond is measured from the bottom; another type is no way out."""
    other = await world.program_of(acme.store, acme.workspace_id, acme.owner_id)
    late = NOW + timedelta(days=29)
    assert await change(acme, commission_rate=0) is None
    assert await change(acme, commission_rate=20, at=late) is None
    assert await change(other, commission_rate=40) is None
    assert await change(other, commission_type="flat", commission_rate=2_000) is None

    assert await change(acme, commission_rate=21, at=late) == "rate_change_in_30_days"
    assert await change(other, commission_rate=2_001) == "rate_change_in_30_days"
    assert await change(other, commission_type="percent", commission_rate=41) == "rate_change_in_30_days"
    assert await change(other, commission_type="percent", commission_rate=40) is None


async def test_what_an_owner_changes_uses_up_nothing_and_all_keys_share_the_window(acme: World):
    assert await change(acme, by=OLGA, commission_rate=45) is None
    assert await change(acme, commission_rate=48) is None

    assert await change(acme, by=THIEF._replace(id="2"), commission_rate=28) is None
    assert await change(acme, commission_rate=27) == "rate_change_in_30_days"


@on_each_database
async def test_two_changes_at_once_do_not_pass_the_cap_together(acme: World, database_url: str):
    """Each alone is one allowed step; the second of the two would be a step of 40 points."""
    async with storage.opened(database_url) as beside:
        sent = (change(acme, commission_rate=40), change(replace(acme, store=beside), commission_rate=0))

        results = await asyncio.gather(*sent)

    assert [each for each in results if each] == ["rate_step"]


async def test_a_frozen_setting_is_the_owners(acme: World):
    await cap(acme, frozen_settings=["lead_auth_policy", "domain", "commission_rate"])
    frozen: list[dict[str, Any]] = [
        {"lead_auth_policy": "browser_allowed"},
        {"commission_type": "flat", "commission_rate": 2_000},
        {"domain": "thief.example", "name": "Fine"},
    ]

    for changes in frozen:
        assert await change(acme, **changes) == "frozen_settings", changes
    assert await change(acme, name="Fine", domain="acme.example") is None  # unchanged is no change
    assert [await change(acme, by=OLGA, **changes) for changes in frozen] == [None] * 3


async def test_amounts_are_checked_again_in_a_new_currency(acme: World):
    assert await change(acme, lead_commission_cents=10_000) is None

    assert await change(acme, currency="JPY") == "highest_lead_commission_cents"


async def test_an_owner_sets_the_caps(acme: World):
    await cap(acme, rate_step=5, highest_rate=24.5, highest_lead_commission_cents=0)

    assert await change(acme, commission_rate=24.5) is None
    assert await change(acme, commission_rate=24.51) == "highest_rate"
    assert await change(acme, commission_rate=19) == "rate_step"
    assert await change(acme, lead_commission_cents=1) == "highest_lead_commission_cents"
