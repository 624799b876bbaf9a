"""One customer, one partner, the changes and the processor's events: each is one call."""

from datetime import timedelta
from typing import Any

from storage.access import program_keys
from storage.engine.audit import Actor, By
from storage.lists.commissions import COMMISSIONS
from storage.management import partners, program_settings
from storage.payments import processing
from storage.payments.stripe import parse_event
from storage.rules.errors import InvalidKey
from tests.mcp_server.conftest import HOSTILE, INERT, Assistant
from tests.world import HELD_SINCE, NOW

OWNER = Actor("user", "1", "olivia@acme.example")


async def taken(assistant: Assistant, event: dict[str, Any]) -> None:
    acme = assistant.acme
    await acme.store.write_in(acme.program_id, processing.process, acme.program_id, parse_event(event), at=NOW)


async def paid(assistant: Assistant) -> None:
    """Approve and pay Anna's only commission."""
    acme = assistant.acme
    [row] = (await acme.listed(COMMISSIONS)).data
    for status in ("approved", "paid"):
        await acme.decide(status, row.id, by=By(OWNER, NOW))


async def test_a_customers_story_is_one_call_by_any_identifier(assistant: Assistant, click_id: str):
    await assistant.acme.reject(
        InvalidKey(), customer_key="user-1", transaction_id="inv-2", at=NOW + timedelta(hours=1)
    )
    stories = [
        (await assistant.tool("get_customer", **{name: value})).payload
        for name, value in {"customer_key": "user-1", "click_id": click_id, "transaction_id": "inv-1"}.items()
    ]

    story = stories[0]
    assert (story["customer"]["partner_name"], story["customer"]["status"]) == ("Anna", "conversion")
    assert [step["kind"] for step in story["timeline"]] == ["rejected", "refund", "sale", "lead", "click"]
    assert story["timeline"][1]["reversed_cents"] == 200
    assert story["timeline"][2]["commission"]["net_cents"] == 1_800
    assert (story["totals"]["owed_cents"], story["totals"]["paid_out_cents"]) == (1_800, 0)
    assert (story["why"]["verdict"], story["why"]["transaction_id"]) == ("invalid_key", "inv-2")
    assert all(other["timeline"] == story["timeline"] for other in stories)


async def test_the_story_of_an_unknown_customer_names_what_to_call_next(assistant: Assistant):
    unknown = (await assistant.tool("get_customer", customer_key="nobody")).rejection

    assert (unknown["code"], "explain" in unknown["hint"]) == ("not_found", True)


async def test_a_name_of_several_partners_is_rejected_with_their_ids(assistant: Assistant):
    acme = assistant.acme
    for code in ("a", "b"):
        await acme.do(partners.enrol, name="Namesake", code=code)

    rejection = (await assistant.tool("get_partner", partner="namesake")).rejection

    assert "send partner_id" in rejection["fields"][0]["message"]
    assert (await assistant.tool("get_partner", partner="nobody")).rejection["code"] == "not_found"


async def test_changes_are_of_the_dates_with_decisions_terms_and_the_key_and_without_secrets(assistant: Assistant):
    acme = assistant.acme
    later = NOW + timedelta(minutes=5)
    await acme.customer(at=HELD_SINCE)
    await acme.sale(at=HELD_SINCE)
    await paid(assistant)
    changes = {"cookie_window_days": 30, "rate": 1_500, "name": HOSTILE.replace("\x00", "")}
    await acme.store.write(program_settings.change, acme.program_id, changes, by=By(OWNER, later))
    await acme.store.write(program_keys.regenerate, acme.program_id, by=By(OWNER, later))
    eve: dict[str, Any] = {"name": "Eve", "code": "eve", "email": "eve@partners.example"}
    await acme.store.write(partners.enrol, acme.program_id, **eve, by=By(OWNER, later))

    every = (await assistant.tool("list_changes")).payload
    decided = (await assistant.tool("list_changes", decisions=True)).payload["data"]
    before = (await assistant.tool("list_changes", date_to="2026-05-19")).payload
    since = (await assistant.tool("list_changes", date_from="2026-05-21")).payload

    actions = {"program.change", "program_key.regenerate", "partner.enrol"}
    assert {change["action"] for change in every["data"]} == actions
    assert INERT in [change.get("after") for change in every["data"]]
    assert before["data"] == since["data"] == []
    assert [(each["version"], each["terms"]["commission_rate"]) for each in every["terms"]] == [(2, 15), (1, 20)]
    assert [each["action"] for each in decided] == ["commission.decide"] * 2
    assert every["terms"][1]["until"] == every["terms"][0]["since"] == "2026-05-20T12:05:00Z"
    assert every["program_key"]["since"] == every["program_key"]["earlier_ended_at"][0] == "2026-05-20T12:05:00Z"
    assert not any(hidden in str(every) for hidden in (acme.key[-4:], "eve@partners.example"))


async def test_an_assistant_follows_what_changed(assistant: Assistant):
    await assistant.acme.flag()
    whole = (await assistant.tool("changes_since")).payload
    await assistant.acme.customer("user-77")

    since = (await assistant.tool("changes_since", cursor=whole["cursor"])).payload

    assert whole["summary"]["needs_action"][0]["kind"] == "flag.raise"
    assert [each["kind"] for each in since["data"]] == ["lead.record"]
