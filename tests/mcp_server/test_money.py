"""For random worlds, every figure that assistants read is the ledger's sum in SQL, and what they call ready is."""

from datetime import timedelta
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import text

from storage.checks import books
from storage.engine.audit import Actor
from storage.lists.commissions import Commission
from storage.lists.flags import FLAGS
from storage.management import commission_decisions, flag_decisions, fraud_review
from storage.rules.commission import CommissionStatus
from storage.rules.errors import ServiceError
from storage.rules.fraud.flag import Finding, FlagKind, FlagState
from tests import world
from tests.mcp_server.conftest import Assistant
from tests.world import HELD_SINCE, NOW, World

OWNER = Actor("user", "1", "owner@acme.example")
KINDS = (FlagKind.SELF_REFERRAL, FlagKind.UNUSUAL_REFUND_RATE, FlagKind.UNUSUAL_CONVERSION_RATE)
STEPS = st.one_of(
    st.tuples(st.just("sale"), st.integers(1, 4), st.sampled_from([HELD_SINCE, NOW])),
    st.tuples(st.just("refund"), st.integers(0, 7), st.integers(1, 12_000)),
    st.tuples(st.just("decide"), st.integers(0, 7), st.sampled_from(["approved", "paid", "rejected"])),
    st.tuples(st.just("flag"), st.integers(0, 4), st.sampled_from(KINDS)),
    st.tuples(st.just("review"), st.integers(0, 3), st.sampled_from(["dismissed", "confirmed"])),
)
FIGURES = """
WITH held AS (
  SELECT c.id FROM commissions c JOIN flags f ON f.program_id = c.program_id AND f.partner_id = c.partner_id
  WHERE (f.state = 'open' OR f.state = 'confirmed' AND f.customer_id IS NOT NULL)
    AND (f.customer_id = c.customer_id OR f.customer_id IS NULL AND f.kind <> 'unusual_conversion_rate')
    AND f.held_from <= c.created_at AND c.status IN ('pending', 'approved')
), entries AS (
  SELECT e.*, c.status, c.hold_until > :now AS waits, e.commission_id IN (SELECT id FROM held) AS is_held
  FROM ledger_entries e JOIN commissions c ON c.program_id = e.program_id AND c.id = e.commission_id
  WHERE e.program_id = :program AND e.kind NOT LIKE 'platform%'
)
SELECT sum(CASE WHEN status = 'pending' AND NOT is_held THEN amount_cents ELSE 0 END) AS pending_cents,
  sum(CASE WHEN status = 'pending' AND NOT is_held AND NOT waits THEN amount_cents ELSE 0 END) AS ready_cents,
  sum(CASE WHEN is_held THEN amount_cents ELSE 0 END) AS flagged_cents,
  sum(CASE WHEN kind IN ('payout', 'set_off') THEN -amount_cents ELSE 0 END) AS paid_cents,
  sum(CASE WHEN status = 'paid' THEN amount_cents ELSE 0 END) AS settled_cents,
  sum(CASE WHEN status = 'approved' AND NOT is_held THEN amount_cents ELSE 0 END) AS free_cents,
  sum(CASE WHEN kind NOT IN ('payout', 'set_off') THEN amount_cents ELSE 0 END) AS commission_cents
FROM entries WHERE partner_id = :partner
"""


class Books:
    """A program of its own in Acme's workspace, and what its tables add up to."""

    def __init__(self, program: World) -> None:
        self.program = program
        self.sold: list[Any] = []

    async def take(self, step: str, number: int, value: Any) -> None:
        """Take a step, unless the rules reject it."""
        acme = self.program
        try:
            if step == "sale":
                key = f"user-{number}"
                await acme.customer(key, "anna" if number % 2 else "ben", at=value)
                self.sold.append(await acme.sale(f"inv-{len(self.sold)}", customer_key=key, at=value))
            elif step == "refund":
                await acme.refund(f"inv-{number}", value)
            elif step == "decide" and number < len(self.sold):
                await self.decide(self.sold[number].commission_id, value)
            elif step == "flag":
                await self.flag(number, value)
            elif step == "review":
                flag = (await acme.listed(FLAGS)).data[number]
                about: dict[str, Any] = {"actor": OWNER, "at": NOW}
                await acme.store.write(flag_decisions.decide, acme.program_id, flag.id, FlagState(value), **about)
        except (ServiceError, IndexError):
            pass

    async def flag(self, number: int, kind: FlagKind) -> None:
        """Flag one of Anna's or Ben's customers, or without a number all of Anna's since the customers' first sales."""
        found = await self.read("SELECT id, partner_id FROM customers WHERE program_id = :program ORDER BY id")
        customer = found[number - 1] if 0 < number <= len(found) else None
        partner_id = customer["partner_id"] if customer else self.program.anna
        customer_id = customer["id"] if customer else None
        finding = Finding(kind, f"{customer_id}", partner_id, HELD_SINCE, {}, customer_id)
        await self.program.store.write(fraud_review.raise_flags, self.program.program_id, [finding], at=NOW)

    async def decide(self, commission_id: int, status: str) -> Any:
        acme, chosen = self.program, CommissionStatus(status)
        about: dict[str, Any] = {"actor": OWNER, "at": NOW + timedelta(hours=1)}
        return await acme.store.write(commission_decisions.decide, acme.program_id, commission_id, chosen, **about)

    async def read(self, sql: str, **values: Any) -> list[Any]:
        about = {"program": self.program.program_id, "now": int((NOW + timedelta(hours=1)).timestamp() * 1000)}
        return await self.program.store.read(lambda each: list(each.execute(text(sql), {**about, **values}).mappings()))

    async def balance(self, partner_id: int) -> dict[str, int]:
        """Return a partner's balance, and what they earned."""
        [row] = await self.read(FIGURES, partner=partner_id)
        sums = {name: int(value or 0) for name, value in row.items()}
        settled, free = sums.pop("settled_cents"), sums.pop("free_cents")
        due = {"approved_cents": free + max(settled, 0), "owed_back_cents": max(-settled, 0)}
        on_hold = sums["pending_cents"] - sums["ready_cents"]
        return {**sums, **due, "on_hold_cents": on_hold, "to_pay_cents": max(free + settled, 0)}


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(STEPS, min_size=4, max_size=16))
async def test_every_balance_forecast_and_report_is_the_sum_of_the_ledger(assistant: Assistant, steps: list[Any]):
    acme = assistant.acme
    program = await world.program_of(acme.store, acme.workspace_id, acme.owner_id)
    mine = Books(program)
    for step in steps:
        await mine.take(*step)

    async def tool(name: str, **asked: Any) -> Any:
        return (await assistant.tool(name, program_id=program.program_id, **asked)).payload

    async def sum_of(**filters: Any) -> int:
        cents: int = (await tool("list_commissions", **filters))["totals"]["sums"]["net_cents"]
        return cents

    earned = 0
    listed = {each["id"]: each["balance"] for each in (await tool("list_partners"))["data"]}
    for partner_id in (program.anna, program.ben):
        expected = await mine.balance(partner_id)
        page = await tool("get_partner", partner_id=partner_id)
        of_partner: dict[str, Any] = {"partner_id": partner_id}
        assert page["holds"] == (await tool("list_commissions", **of_partner))["holds"]
        earned += expected["commission_cents"]
        assert page["totals"]["commission_cents"] == expected.pop("commission_cents")
        for shown in (listed[partner_id], page["balance"]):
            assert {name: cents for name, cents in shown.items() if name.endswith("_cents")} == expected
        assert sum(each["cents"] for each in page["holds"]) == expected["on_hold_cents"]
        assert await sum_of(**of_partner, status="pending", flagged=False) == expected["pending_cents"]
        assert await sum_of(**of_partner, flagged=True) == expected["flagged_cents"]
        assert await sum_of(**of_partner, ready_at="2026-05-20T13:00:00Z") == expected["ready_cents"]

    assert (await tool("get_performance", period="30d"))["totals"]["commission_cents"] == earned

    ready = (await tool("list_commissions", ready_at="2026-05-20T13:00:00Z"))["data"]
    approved = [await mine.decide(each["id"], "approved") for each in ready]
    payable = (await tool("list_commissions", status="approved", flagged=False))["data"]
    paid = [await mine.decide(each["id"], "paid") for each in payable]
    assert all(isinstance(each, Commission) for each in (*approved, *paid)), (approved, paid)
    assert {each["id"] for each in ready} <= {each["id"] for each in payable}
    assert [each["balance"]["to_pay_cents"] for each in (await tool("list_partners"))["data"]] == [0, 0]
    assert await program.store.read(books.run) == []
