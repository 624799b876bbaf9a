"""Readiness and identifier health: one blocker at a time, and no false alarm."""

from datetime import datetime, timedelta

import pytest

from storage.access import program_keys
from storage.diagnosis import identifier_health, readiness
from storage.diagnosis.identifier_health import HealthState, IdentifierHealth
from storage.diagnosis.readiness import Readiness, ReadinessGate
from storage.engine.audit import Actor
from storage.management import program_settings
from storage.rules.errors import ApiKeyRotationRequired, CustomerNotFound, InvalidKey, ServiceError
from storage.rules.key_format import Difference, KeyFormat
from storage.rules.settlement import LeadAuthPolicy
from storage.rules.state import State
from storage.tracking import test_mode
from tests.world import NOW, World

OWNER = Actor("user", "1", "owner@acme.example")


async def ready(acme: World) -> Readiness:
    found: Readiness = await acme.store.read(
        readiness.check_readiness, acme.program_id, at=NOW, base_url="https://svc.example"
    )
    return found


async def health(acme: World) -> IdentifierHealth:
    found: IdentifierHealth = await acme.store.read(identifier_health.check_keys, acme.program_id)
    return found


async def reject_sale(acme: World, customer_key: str) -> None:
    await acme.reject(CustomerNotFound(), customer_key=customer_key)


async def sell(acme: World, *customer_keys: str) -> None:
    for key in customer_keys:
        await acme.customer(key)
        await acme.sale(f"inv-{key}", customer_key=key)


async def change_policy(acme: World, policy: LeadAuthPolicy) -> None:
    changes = {"lead_auth_policy": policy}
    await acme.store.write(program_settings.change, acme.program_id, changes, actor=OWNER, at=NOW)


async def key_accepted(acme: World, at: datetime) -> ReadinessGate:
    found: Readiness = await acme.store.read(
        readiness.check_readiness, acme.program_id, at=at, base_url="https://svc.example"
    )
    return next(gate for gate in found.gates if gate.gate == "program_key_accepted")


def states(found: Readiness) -> dict[str, State]:
    return {gate.gate: gate.state for gate in found.gates}


async def test_a_new_program_shows_its_first_step(acme: World):
    found = await ready(acme)

    assert (found.ready, found.blocker) == (False, "tracker_installed")
    assert states(found)["live_sale"] == State.UNKNOWN
    assert all((gate.state == State.PASS) == (gate.next_action is None) for gate in found.gates)


async def test_a_program_that_sells_is_ready_without_any_test(acme: World):
    await acme.click(page_url="https://acme.example/")
    await sell(acme, "user-1", "user-2")

    found = await ready(acme)

    assert (found.ready, found.blocker) == (True, None)
    assert set(states(found).values()) == {State.PASS}


async def test_a_gate_fails_if_all_of_its_live_calls_were_rejected(acme: World):
    for kind in ("click", "lead", "sale"):
        await acme.handle(test_mode.record_with_key, test_mode.TestModeCall(kind, NOW))
    await reject_sale(acme, "user-1")

    found = await ready(acme)

    assert (await key_accepted(acme, NOW)).state == State.PASS  # another rejection than of the key

    assert states(found)["live_sale"] == State.FAIL
    assert states(found)["live_lead"] == State.UNKNOWN


async def test_a_flagged_key_fails_its_gate_until_it_is_replaced(acme: World):
    deadline = NOW + timedelta(days=30)
    await acme.store.write(program_keys.flag, acme.program_id, rotate_by=deadline, at=NOW)
    flagged = states(await ready(acme))["program_key_current"]

    await acme.store.write(program_keys.regenerate, acme.program_id, at=NOW)

    assert (flagged, states(await ready(acme))["program_key_current"]) == (State.FAIL, State.PASS)


@pytest.mark.parametrize("error", [InvalidKey, ApiKeyRotationRequired])
async def test_events_lost_to_a_wrong_key_fail_their_gate_until_they_stop(acme: World, error: type[ServiceError]):
    for days in range(3):
        await acme.reject(error(), at=NOW - timedelta(days=days))
    await acme.reject(error(), call="status")

    found = {days: await key_accepted(acme, NOW + timedelta(days=days)) for days in (0, 2, 8)}

    assert {days: gate.state for days, gate in found.items()} == {0: State.FAIL, 2: State.UNKNOWN, 8: State.PASS}
    assert found[0].rejected == (3, NOW - timedelta(days=2), NOW, True)
    assert (found[0].next_action or "").startswith("3 events were rejected")
    assert "still happening" in (found[0].next_action or "")
    assert "still happening" not in (found[2].next_action or "")


async def test_customers_without_a_partner_are_not_reported(acme: World):
    await sell(acme, "user-1", "user-2")
    for key in ("user-3", "user-4"):
        await reject_sale(acme, key)

    found = await health(acme)

    assert (found.state, found.groups) == (HealthState.HEALTHY, [])
    assert (found.sale_keys, found.matched, found.not_referred) == (4, 2, 2)


@pytest.mark.parametrize(
    ("sale_key", "difference", "shape", "meant"),
    [
        ("USER-1", Difference.LETTER_CASE, KeyFormat.PREFIXED, "user-1"),
        ("cus_NffrFeUfNV2Hib", Difference.SHAPE, KeyFormat.PROCESSOR_ID, None),
    ],
)
async def test_keys_that_match_no_lead_are_grouped_with_the_likely_mapping(
    acme: World, sale_key: str, difference: Difference, shape: KeyFormat, meant: str | None
):
    await sell(acme, "user-1", "user-2")
    await reject_sale(acme, sale_key)

    found = await health(acme)

    (group,) = found.groups
    assert found.state == HealthState.MISMATCHED
    assert (group.difference, group.shape, group.keys) == (difference, shape, 1)
    assert [(example.sale_key, example.lead_key) for example in group.examples] == [(sale_key, meant)]
    assert (await ready(acme)).blocker is not None


async def test_a_browsers_lead_hides_no_mismatched_keys(acme: World):
    await sell(acme, "user-1", "user-2")
    await change_policy(acme, LeadAuthPolicy.BROWSER_ALLOWED)
    await acme.lead(await acme.visitor(), "cus_4Kd8sWq1zX", is_trusted=False)
    for key in ("cus_NffrFeUfNV2Hib", "cus_QbX2mT71cVd0aP"):
        await reject_sale(acme, key)

    found = await health(acme)

    assert found.state == HealthState.MISMATCHED
    assert [(group.shape, group.keys, group.lead_shapes) for group in found.groups] == [
        (KeyFormat.PROCESSOR_ID, 2, (KeyFormat.PREFIXED,))
    ]


async def test_where_all_leads_come_from_browsers_they_are_compared_and_do_not_make_unmatched_keys_healthy(acme: World):
    states = [(await health(acme)).state]
    await change_policy(acme, LeadAuthPolicy.BROWSER_ALLOWED)
    await acme.lead(await acme.visitor(), "user-1", is_trusted=False)
    for key in (None, "user-2", "cus_NffrFeUfNV2Hib"):
        if key:
            await reject_sale(acme, key)
        states.append((await health(acme)).state)

    assert states == [HealthState.UNKNOWN] * 3 + [HealthState.MISMATCHED]


async def test_customers_credited_by_their_click_were_referred(acme: World):
    await sell(acme, "user-1")
    for number in (2, 3, 4):
        await acme.sale(f"inv-{number}", customer_key=f"user-{number}", click_id=await acme.visitor())
    await reject_sale(acme, "user-5")

    found = await health(acme)

    assert (found.sale_keys, found.matched, found.not_referred) == (5, 4, 1)


async def test_a_sale_that_its_click_attributed_proves_which_key_was_meant(acme: World):
    click_id = await acme.visitor()
    await acme.lead(click_id, "user-1")
    await acme.sale(customer_key="17", click_id=click_id)

    found = await health(acme)

    assert found.groups[0].examples == (identifier_health.Example("17", "user-1"),)
