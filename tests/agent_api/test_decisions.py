"""What a key may decide about a commission: to approve and to pay are two scopes, and two keys if the owner says so."""

from typing import Any

import httpx
import pytest

from storage.engine.audit import Actor
from storage.management import agent_caps, commissions
from storage.rules.commission import CommissionStatus
from storage.rules.scope import Scope
from tests.agent_api.conftest import Agents
from tests.world import HELD_SINCE, NOW

pytestmark = pytest.mark.anyio
OLGA = Actor("user", "1", "olga@acme.example")
WRITE, PAY = Scope.COMMISSIONS_WRITE, Scope.COMMISSIONS_PAY


@pytest.fixture
async def path(agents: Agents) -> str:
    """The path of a commission that is off hold."""
    await agents.acme.customer(at=HELD_SINCE)
    sold = await agents.acme.sale(occurred_at=HELD_SINCE)
    return f"./commissions/{sold.commission_id}"


async def decide(agents: Agents, path: str, key: str, body: Any) -> httpx.Response:
    return await agents.call("PATCH", path, key, json={"status": body} if isinstance(body, str) else body)


async def want_two_keys(agents: Agents) -> None:
    changes = {"two_keys_to_pay": True}
    await agents.acme.store.write(agent_caps.change, agents.acme.program_id, changes, actor=OLGA, at=NOW)


async def test_approving_and_paying_need_a_scope_each(agents: Agents, path: str):
    writer, payer, reader = [await agents.issue([scope]) for scope in (WRITE, PAY, Scope.COMMISSIONS_READ)]

    answers = [
        await decide(agents, path, payer, "approved"),
        await decide(agents, path, writer, "approved"),
        await decide(agents, path, writer, "paid"),
        await decide(agents, path, reader, "paid"),
        await decide(agents, path, payer, "rejected"),
        await decide(agents, path, payer, "paid"),
    ]

    errors = [answer.json().get("error", {}) for answer in answers]
    assert [(error.get("code"), error.get("required_scope")) for error in errors] == [
        ("insufficient_scope", WRITE),
        (None, None),
        ("insufficient_scope", PAY),
        ("insufficient_scope", PAY),
        ("insufficient_scope", WRITE),
        (None, None),
    ]
    assert answers[-1].json()["status"] == "paid"


async def test_a_malformed_decision_needs_the_scope_to_write_first(agents: Agents, path: str):
    payer = await agents.issue([PAY])
    bodies: list[Any] = [{}, {"status": "odd"}, {"status": ["paid"]}, [], {"status": None}]

    for body in bodies:
        rejected = await decide(agents, path, payer, body)
        assert (rejected.status_code, rejected.json()["error"]["required_scope"]) == (403, WRITE), body
        assert (await decide(agents, path, "good", body)).status_code == 400, body


async def test_the_key_that_approved_cannot_pay_where_the_owner_wants_two(agents: Agents, path: str):
    await want_two_keys(agents)
    other = await agents.issue()
    await decide(agents, path, "good", "approved")

    same = await decide(agents, path, "good", "paid")
    paid = await decide(agents, path, other, "paid")

    assert (same.status_code, same.json()["error"]["code"]) == (403, "second_key_required")
    assert paid.json()["status"] == "paid"


async def test_one_key_pays_what_an_owner_approved(agents: Agents, path: str):
    await want_two_keys(agents)
    commission_id = int(path.rpartition("/")[2])
    await agents.acme.store.write(
        commissions.decide, agents.acme.program_id, commission_id, CommissionStatus.APPROVED, actor=OLGA, at=NOW
    )

    assert (await decide(agents, path, "good", "paid")).json()["status"] == "paid"
