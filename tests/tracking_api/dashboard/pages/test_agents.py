"""An agent has the documents and its key alone: it prices, plans and takes back changes, refers and replays."""

from datetime import UTC, datetime, timedelta
from typing import Any

from playwright.async_api import Page, expect

from storage.access import program_keys
from storage.management import agent_caps
from tests.test_dry_runs import DRY
from tests.tracking_api.dashboard.pages.conftest import Site, violations_here
from tests.tracking_api.dashboard.pages.scripted_agent import ScriptedAgent

NOW = datetime.now(UTC)
BEFORE, RAISED, SINCE = (NOW - timedelta(days=days) for days in (45, 25, 10))
DRAFTS = (40, 30, 24)  # percent, of which the last is more than an agent key may take away at once
REASON = "The margin falls since the rate was raised"


async def raise_rate(site: Site) -> None:
    """Let Acme pay 45 percent since some weeks, and a program beside it 20 percent as before."""
    beside = await site.acme.beside(name="Beside")
    for each in (site.acme, beside):
        await each.customer(at=BEFORE)
        await each.sale("inv-1", 10_000, at=BEFORE)
        await (each.change(at=RAISED, commission_rate=45) if each is site.acme else each.change(at=RAISED))
        await each.sale("inv-2", 10_000, at=SINCE)
    await site.acme.do(agent_caps.change, {"apply_own_plans": True})


async def best_draft(agent: ScriptedAgent, program_id: int) -> Any:
    """Return the cheapest of the drafts, by what it would have cost, whose plan is within the agent's caps."""
    costs = {}
    for rate in DRAFTS:
        body = {"changes": {"commission_rate": rate}, "days": 30}
        priced = await agent.do("POST", "under other terms", body, program_id=program_id)
        change = {"method": "PATCH", "path": "", "body": {"commission_rate": rate}}
        plan = {"changes": [change], "reason": REASON}
        tried = await agent.do("POST", "Propose actions", plan, program_id=program_id, **DRY)
        if not tried["caps"]:
            costs[priced["after"]["commission_cents"]] = plan
    return costs[min(costs)]


async def test_an_agent_prices_changes_an_owner_approves_one_and_the_agent_verifies_it_and_takes_it_back(
    site: Site, axe: str
):
    await raise_rate(site)
    key = (await site.acme.issue(expires_at=NOW + timedelta(days=1))).secret
    async with ScriptedAgent(site.server.base_url, key) as agent:
        program_id = await agent.falling_margin()
        sent = await agent.do("POST", "Propose actions", await best_draft(agent, program_id), program_id=program_id)
        about = {"program_id": program_id, "plan_id": sent["id"]}
        cursor = (await agent.do("GET", "since a cursor", program_id=program_id, limit=200))["cursor"]

        await approve(await site.sign_in(bypass_csp=True), site, axe)

        plan = await agent.do("GET", "Return a plan", **about)
        news = await agent.do("GET", "since a cursor", program_id=program_id, cursor=cursor)
        lowered = await agent.do("GET", "Return a program,", program_id=program_id)
        reverted = await agent.do("POST", "Take back what a plan", **about)
        restored = await agent.do("GET", "Return a program,", program_id=program_id)

    assert program_id == site.acme.program_id
    assert (sent["status"], sent["backtest"]["difference_cents"], sent["approvers"]) == ("open", -1_500, ["owner"])
    assert [each["uses"] for each in sent["caps_used"] if each["cap"] == "rate_step"] == [15]
    assert (plan["status"], plan["decided_by"]) == ("applied", "olga@acme.example")
    assert {each["kind"] for each in news["data"]} >= {"plan.apply", "program.change"}
    assert (lowered["commission_rate"], restored["commission_rate"]) == (30, 45)
    assert (reverted["status"], reverted["reverts_id"]) == ("applied", sent["id"])


async def approve(page: Page, site: Site, axe: str) -> None:
    """Approve the plan to which the overview leads, having read what it does."""
    await page.goto(site.program)
    await page.get_by_role("link", name="See the plans").click()
    card = page.get_by_role("article", name="Reporter asks for 1 change")
    await expect(card).to_contain_text(f"Because: {REASON}")
    await expect(card).to_contain_text("Change commission rate of the program from 45 to 30.")
    await expect(card).to_contain_text("In the last 30 days these terms would have cost $15.00 less.")
    assert await violations_here(page, axe) == []
    await card.get_by_role("button", name="Approve and apply").click()
    await expect(page.get_by_role("status")).to_contain_text("The plan is applied.")
    assert await violations_here(page, axe) == []


async def test_an_agent_refers_a_customer_replays_a_sale_that_came_too_early_and_sees_a_rotation(site: Site):
    paid = {"customer_key": "user-9", "transaction_id": "inv-9", "amount_cents": 10_000}
    early = await site.call("/api/v1/track/sale", paid)
    renewed = await site.acme.do(program_keys.regenerate, at=datetime.now(UTC))
    late = await site.call("/api/v1/track/refund", {"transaction_id": "inv-9", "refund_amount_cents": 900})
    key = (await site.acme.issue(expires_at=NOW + timedelta(days=1))).secret
    async with ScriptedAgent(site.server.base_url, key) as agent:
        own = site.acme.program_id
        referral = await agent.do("POST", "Issue a referral token", {"partner_code": "anna"}, program_id=own)
        customer = {"click_id": referral["token"], "customer_key": "user-9"}
        lead = await site.call("/api/v1/track/lead", customer, renewed.api_token)
        replay = ("POST", "Perform rejected calls", {"cause": early.json()["error"]["code"]})
        tried, done = [await agent.do(*replay, program_id=own, **header) for header in (DRY, {})]
        [earned] = (await agent.do("GET", "The commissions", program_id=own))["data"]
        verified = await agent.do("POST", "whether a referral token", {"token": referral["token"]}, program_id=own)
        rotation = await agent.do("GET", "replacement of the program key", program_id=own)

    assert [each.status_code for each in (early, late, lead)] == [400, 401, 200]
    assert (tried["performed"], done["performed"]) == (1, 1)
    assert (earned["partner"]["code"], earned["amount_cents"], verified["state"]) == ("anna", 2_000, "used")
    assert (rotation["state"], rotation["waiting_calls"]) == ("under_way", 1)
