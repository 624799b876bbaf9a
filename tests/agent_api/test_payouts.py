"""Agents draft payouts with one scope and send them with another, within the caps and by two keys."""

from typing import Any

from storage.management import agent_caps
from storage.rules.scope import Scope
from tests.agent_api.conftest import Agents
from tests.storage.management.paying import earn, pay_by

SENT = {"paid_on": "2026-05-20", "reference": "ACME-11"}


async def test_an_agent_drafts_and_sends_a_payout_within_the_caps_of_a_day(agents: Agents):
    await pay_by(agents.acme, agents.acme.anna)
    await earn(agents.acme, 10_000, 5_000)
    writer, payer = [await agents.issue([scope]) for scope in (Scope.PAYOUTS_WRITE, Scope.COMMISSIONS_PAY)]
    wanted: dict[str, Any] = {"json": {"earned_until": "2026-05-31"}, "headers": {"Idempotency-Key": "may"}}

    drafted = [await agents.call("POST", "./payouts", writer, **wanted) for _ in range(2)]
    path = f"./payouts/{drafted[0].json()['id']}"
    missing = await agents.call("POST", f"{path}/send", writer, json=SENT)
    await agents.acme.do(agent_caps.change, {"commissions_in_a_day": 1})
    over = await agents.call("POST", f"{path}/send", payer, json=SENT)
    await agents.acme.do(agent_caps.change, {"commissions_in_a_day": 2})
    sent = await agents.call("POST", f"{path}/send", payer, json=SENT)

    assert [(each.status_code, each.json()["to_pay_cents"]) for each in drafted] == 2 * [(201, 3_000)]
    assert missing.json()["error"]["required_scope"] == Scope.COMMISSIONS_PAY
    assert (over.status_code, over.json()["error"]["cap"]) == (403, "commissions_in_a_day")
    assert (sent.status_code, sent.json()["state"]) == (200, "sent")


async def test_where_the_owner_wants_two_keys_a_payout_of_what_the_key_approved_is_rejected(agents: Agents):
    await agents.acme.do(agent_caps.change, {"two_keys_to_pay": True})
    await pay_by(agents.acme, agents.acme.anna)
    [earned] = await earn(agents.acme, 10_000, approved=False)
    approver = await agents.issue()
    agents.at = agents.at.replace(month=7)
    await agents.call("PATCH", f"./commissions/{earned}", approver, json={"status": "approved"})
    drafted = (await agents.call("POST", "./payouts", json={})).json()

    same, other = [
        await agents.call("POST", f"./payouts/{drafted['id']}/send", key, json=SENT) for key in (approver, "good")
    ]

    assert (same.status_code, same.json()["error"]["code"]) == (403, "second_key_required")
    assert (other.status_code, other.json()["to_pay_cents"]) == (200, 2_000)
