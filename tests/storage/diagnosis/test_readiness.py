"""Readiness, identifier health and search: one blocker at a time, no false alarm, and what each identifier names."""

from datetime import datetime, timedelta

import pytest

from storage.access import program_keys
from storage.diagnosis import identifier_health, readiness
from storage.diagnosis.identifier_health import HealthState, IdentifierHealth
from storage.diagnosis.readiness import Readiness, ReadinessGate
from storage.diagnosis.search import SearchResult, search
from storage.rules import errors
from storage.rules.contact import protect
from storage.rules.key_format import Difference, KeyFormat
from storage.rules.outcome import State
from storage.rules.settlement import LeadAuthPolicy
from storage.tables import commissions
from storage.tracking import test_mode
from tests import stripe_events as stripe
from tests.storage.payments.paying import take
from tests.world import NOW, World, stored


async def ready(acme: World, at: datetime = NOW) -> Readiness:
    base_url = "https://svc.example"
    return await acme.store.read(readiness.check_readiness, acme.program_id, at=at, base_url=base_url)


async def health(acme: World) -> IdentifierHealth:
    return await acme.store.read(identifier_health.check_keys, acme.program_id)


async def reject_sale(acme: World, customer_key: str) -> None:
    await acme.reject(errors.CustomerNotFound(), customer_key=customer_key)


async def sell(acme: World, *customer_keys: str) -> None:
    for key in customer_keys:
        await acme.customer(key)
        await acme.sale(f"inv-{key}", customer_key=key)


async def key_accepted(acme: World, at: datetime = NOW) -> ReadinessGate:
    return next(gate for gate in (await ready(acme, at)).gates if gate.gate == "program_key_accepted")


def states(found: Readiness) -> dict[str, State]:
    return {gate.gate: gate.state for gate in found.gates}


async def test_a_new_program_shows_its_first_step_and_one_that_sells_is_ready_without_any_test(acme: World):
    new = await ready(acme)
    await acme.click(page_url="https://acme.example/")
    await sell(acme, "user-1", "user-2")

    found = await ready(acme)

    assert (new.ready, new.blocker) == (False, "tracker_installed")
    assert states(new)["live_sale"] == State.UNKNOWN
    assert all((gate.state == State.PASS) == (gate.next_action is None) for gate in new.gates)
    assert (found.ready, found.blocker) == (True, None)
    assert set(states(found).values()) == {State.PASS}


async def test_a_gate_fails_if_all_of_its_live_calls_were_rejected_or_while_its_key_is_flagged(acme: World):
    for kind in ("click", "lead", "sale"):
        await acme.handle(test_mode.record_with_key, test_mode.TestModeCall(kind, NOW))
    await reject_sale(acme, "user-1")
    organic = await ready(acme)
    await acme.reject(errors.CustomerNotAttributed())

    found = await ready(acme)

    assert states(organic)["live_sale"] == State.UNKNOWN
    assert (await key_accepted(acme)).state == State.PASS  # another rejection than of the key
    assert states(found)["live_sale"] == State.FAIL
    assert states(found)["live_lead"] == State.UNKNOWN
    deadline = NOW + timedelta(days=30)
    await acme.do(program_keys.flag, rotate_by=deadline)
    flagged = states(await ready(acme))["program_key_current"]

    await acme.do(program_keys.regenerate)

    assert (flagged, states(await ready(acme))["program_key_current"]) == (State.FAIL, State.PASS)


@pytest.mark.parametrize("error", [errors.InvalidKey, errors.ApiKeyRotationRequired])
async def test_events_lost_to_a_wrong_key_fail_their_gate_until_they_stop(
    acme: World, error: type[errors.ServiceError]
):
    for days in range(3):
        await acme.reject(error(), at=NOW - timedelta(days=days))
    await acme.reject(error(), call="status")

    found = {days: await key_accepted(acme, NOW + timedelta(days=days)) for days in (0, 2, 8)}

    assert {days: gate.state for days, gate in found.items()} == {0: State.FAIL, 2: State.UNKNOWN, 8: State.PASS}
    assert (found[0].next_action or "").startswith("3 events were rejected")
    assert "still happening" in (found[0].next_action or "")
    assert "still happening" not in (found[2].next_action or "")


async def test_customers_without_a_partner_are_not_reported_and_keys_like_those_of_leads_are(acme: World):
    await sell(acme, "user-1", "user-2")
    for key in ("user-3", "user-4"):
        await reject_sale(acme, key)
    healthy = await health(acme)
    await reject_sale(acme, "USER-1")

    found = await health(acme)

    assert (healthy.state, healthy.groups, healthy.sale_keys) == (HealthState.HEALTHY, [], 4)
    assert (healthy.matched, healthy.not_referred) == (2, 2)
    (group,) = found.groups
    assert found.state == HealthState.MISMATCHED
    assert (group.difference, group.shape, group.keys) == (Difference.LETTER_CASE, KeyFormat.PREFIXED, 1)
    assert [(example.sale_key, example.lead_key) for example in group.examples] == [("USER-1", "user-1")]
    assert (await ready(acme)).blocker is not None


async def test_a_browsers_lead_hides_no_mismatched_keys(acme: World):
    await sell(acme, "user-1", "user-2")
    await acme.change(lead_auth_policy=LeadAuthPolicy.BROWSER_ALLOWED)
    await acme.lead(await acme.visitor(), "cus_4Kd8sWq1zX", is_trusted=False)
    for key in ("cus_NffrFeUfNV2Hib", "cus_QbX2mT71cVd0aP"):
        await reject_sale(acme, key)

    found = await health(acme)

    (group,) = found.groups
    assert found.state == HealthState.MISMATCHED
    assert (group.shape, group.keys, group.lead_shapes) == (KeyFormat.PROCESSOR_ID, 2, (KeyFormat.PREFIXED,))


async def test_where_all_leads_come_from_browsers_they_are_compared_and_do_not_make_unmatched_keys_healthy(acme: World):
    states = [(await health(acme)).state]
    await acme.change(lead_auth_policy=LeadAuthPolicy.BROWSER_ALLOWED)
    await acme.lead(await acme.visitor(), "user-1", is_trusted=False)
    for key in (None, "user-2", "cus_NffrFeUfNV2Hib"):
        if key:
            await reject_sale(acme, key)
        states.append((await health(acme)).state)

    assert states == [HealthState.UNKNOWN] * 3 + [HealthState.MISMATCHED]


async def test_customers_credited_by_their_click_were_referred_and_prove_which_key_was_meant(acme: World):
    await sell(acme, "user-1")
    for number in (2, 3):
        await acme.sale(f"inv-{number}", customer_key=f"user-{number}", click_id=await acme.visitor())
    click_id = await acme.visitor()
    await acme.lead(click_id, "user-9")
    for number, key in enumerate(("17", "user-10")):  # another id of one user, and a second user in one browser
        with pytest.raises(errors.IdentifierConflict):
            await acme.sale(f"inv-9{number}", customer_key=key, click_id=click_id)
        await acme.reject(errors.IdentifierConflict(), customer_key=key, click_id=click_id)
    await reject_sale(acme, "user-5")

    found = await health(acme)

    assert (found.sale_keys, found.matched, found.not_referred) == (6, 3, 2)
    assert found.groups[0].examples == (identifier_health.Example("17", "user-9"),)


EMAIL = "jane@example.com"


async def found_by(acme: World, typed: str) -> SearchResult:
    return await acme.store.read(search, [acme.program_id], typed, at=NOW)


def summary(result: SearchResult) -> list[tuple[str, str]]:
    """Return the identifiers and outcomes of the stories."""
    return [(next(filter(None, each.subject)), each.outcome) for each in result.stories]


async def test_each_identifier_leads_to_what_it_names_and_a_partners_name_code_and_link_to_them(acme: World):
    click_id = await acme.visitor()
    await acme.lead(click_id, "user-1", contact=protect(EMAIL))
    await acme.sale("inv-1")
    lost = await acme.visitor("ben")
    await take(acme, stripe.invoice(metadata={"svc_customer_key": "user-404"}))
    await acme.reject(errors.CustomerNotFound(), transaction_id="inv-9", customer_key="user-9")
    [(commission_id,)] = await stored(acme, commissions.c.id)

    stories = {click_id: [(click_id, "credited")], lost: [(lost, "no_lead")]}
    stories |= {key: [("user-1", "credited")] for key in ("user-1", EMAIL.upper(), protect(EMAIL).email_hash)}
    stories |= {key: [("inv-1", "credited")] for key in ("inv-1", str(commission_id))}
    stories |= {name: [(name, "customer_not_found")] for name in ("inv-9", "user-9")}
    stories |= {name: [(name, "payment_waiting")] for name in ("in_1", "pi_in_1", "evt_invoice", "cus_1")}

    assert {typed: summary(await found_by(acme, typed)) for typed in stories} == stories
    links = ("https://acme.example/pricing?utm_source=x&aff=anna", "https://acme.example/?via=anna")
    for typed in ("anna", "ANN", *links, "nothing"):
        ids = [each.id for each in (await found_by(acme, typed)).partners]
        assert ids == [acme.anna] * (typed != "nothing"), typed


async def test_an_identifier_that_never_arrived_says_when_the_server_last_called_and_which_key_is_like_it(acme: World):
    before = (await found_by(acme, "USER-1")).silences
    await acme.customer(at=NOW - timedelta(minutes=3))
    await acme.reject(errors.InvalidKey(), at=NOW - timedelta(minutes=1), call="refund")

    (silence,) = (await found_by(acme, "USER-1")).silences

    assert [each.last_call_at for each in before] == [None]
    assert (silence.last_call_at, silence.likely_key) == (NOW - timedelta(minutes=1), "user-1")
    assert "rejected because of the program key" in str(silence.key_problem)
