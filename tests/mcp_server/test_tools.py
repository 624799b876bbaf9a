"""What each tool answers: what storage holds, under names and units that the server's instructions explain."""

from datetime import timedelta
from typing import Any

import pytest
from jsonschema_rs import validator_for

import background
from mcp_server.tools import ALL
from mcp_server.tools.tool import Tool
from storage.access import program_keys
from storage.engine.audit import Actor
from storage.management import flags, partners, sandboxes
from storage.rules.errors import CustomerNotFound, DuplicateTransaction, InvalidJson
from storage.rules.fraud.flag import Finding, FlagKind
from tests import world
from tests.mcp_server.conftest import BASE, EVERY_TOOL, HOSTILE, INERT, MODERN, Assistant
from tests.world import NOW

pytestmark = pytest.mark.anyio
OWNER = Actor("user", "1", "owner@acme.example")
AS_OF = "2026-05-20T13:00:00Z"


@pytest.mark.parametrize("tool", ALL, ids=lambda tool: tool.name)
async def test_every_result_fits_its_published_schema(assistant: Assistant, click_id: str, tool: Tool):
    payload = (await assistant.tool(tool.name, **EVERY_TOOL[tool.name])).payload

    schema: dict[str, Any] = tool.published().output_schema or {}
    validator_for(schema).validate(payload)
    assert payload["as_of"] == AS_OF
    assert EVERY_TOOL[tool.name].items() <= payload["applied_query"].items()
    assert click_id


async def test_programs_are_those_the_key_reaches(assistant: Assistant):
    acme = assistant.acme
    second = await world.program_of(acme.store, acme.workspace_id, acme.owner_id, name="Second")
    narrowed = await assistant.issue(program_ids=[acme.program_id])

    every = (await assistant.tool("list_programs")).payload
    some = (await assistant.tool("list_programs", key=narrowed)).payload

    assert [program["id"] for program in every["data"]] == [second.program_id, acme.program_id]
    assert some["data"] == every["data"][1:]
    assert every["applied_query"] == {"limit": 25}
    assert (every["truncated"], every["next_cursor"]) == (False, None)


async def test_sandboxes_are_listed_apart_from_live_programs(assistant: Assistant):
    acme = assistant.acme
    opened = await acme.store.write(sandboxes.open_sandbox, acme.program_id, actor=OWNER, at=NOW)

    listed = (await assistant.tool("list_programs", period="7d")).payload

    assert [each["id"] for each in listed["data"]] == [acme.program_id]
    assert [(each["id"], each["sandbox_of"]) for each in listed["sandboxes"]] == [(opened.program_id, acme.program_id)]


async def test_a_program_says_who_uses_its_key_and_who_still_uses_the_one_before(assistant: Assistant):
    acme = assistant.acme
    await acme.reject(CustomerNotFound(), user_agent="shop/1\u200b", network_hash="ab12")
    await background.save_callers(acme.store)
    await acme.store.write(program_keys.regenerate, acme.program_id, at=NOW)

    callers = (await assistant.tool("get_program")).payload["key_callers"]

    shop = next(each for each in callers if each.get("user_agent") == "shop/1")
    assert (shop["key"], shop["network_hash"], shop["calls"]) == ("replaced", "ab12", {"sale": 1})


async def test_a_program_shows_its_terms_and_whether_its_key_must_be_replaced(assistant: Assistant):
    acme = assistant.acme
    before = (await assistant.tool("get_program")).payload["program"]
    await acme.store.write(program_keys.flag, acme.program_id, rotate_by=NOW + timedelta(days=9), at=NOW)
    flagged = (await assistant.tool("get_program")).payload["program"]

    assert (before["commission_type"], before["commission_rate"], before["currency"]) == ("percent", 20, "USD")
    assert (before["program_key_state"], "program_key_rotate_by" in before) == ("active", False)
    assert (flagged["program_key_state"], flagged["program_key_rotate_by"]) == ("flagged", "2026-05-29T12:00:00Z")
    assert acme.key[-4:] not in str(flagged)


async def test_readiness_names_the_blocker(assistant: Assistant):
    payload = (await assistant.tool("get_readiness")).payload

    assert (payload["ready"], payload["blocker"]) == (False, "tracker_installed")
    blocking = next(gate for gate in payload["gates"] if gate["gate"] == payload["blocker"])
    assert blocking["next_action"].startswith(f'Put <script async src="{BASE}/js/svc-tracker.js"')


async def test_partners_are_listed_by_status(assistant: Assistant):
    acme = assistant.acme
    await acme.store.write(partners.enrol, acme.program_id, name=HOSTILE, code="cleo", at=NOW)

    payload = (await assistant.tool("list_partners", limit=1)).payload
    rest = (await assistant.tool("list_partners", cursor=payload["next_cursor"], status="active")).payload

    assert [(row["name"], row["code"]) for row in payload["data"]] == [(INERT, "cleo")]
    assert {row["name"] for row in rest["data"]} == {"Anna", "Ben"}
    assert rest["applied_query"]["status"] == "active"


async def test_untrusted_texts_of_events_are_in_a_separate_field(assistant: Assistant, click_id: str):
    payload = (await assistant.tool("list_events")).payload["data"]

    assert [event["kind"] for event in payload] == ["refund", "sale", "lead", "click"]
    refund, sale, lead, click = payload
    assert (refund["amount_cents"], sale["amount_cents"], sale["currency"]) == (1_000, 10_000, "USD")
    assert (lead["customer_key"], lead["settlement"], lead["partner_id"]) == ("user-1", "settled", assistant.acme.anna)
    assert click["click_id"] == click_id
    assert click["untrusted"]["page_title"] == INERT
    assert len(click["untrusted"]["page_url"]) == 200
    assert all(INERT not in str({**event, "untrusted": None}) for event in payload)


async def test_events_of_one_kind(assistant: Assistant, click_id: str):
    payload = (await assistant.tool("list_events", kind="sale")).payload

    assert click_id
    assert [event["transaction_id"] for event in payload["data"]] == ["inv-1"]


async def test_customers_and_commissions_name_their_partner(assistant: Assistant, click_id: str):
    (customer,) = (await assistant.tool("list_customers", customer_key="user-1")).payload["data"]
    (commission,) = (await assistant.tool("list_commissions", partner_id=assistant.acme.anna)).payload["data"]
    customers = (await assistant.tool("list_customers", status="lead")).payload["data"]

    assert customer["click_id"] == click_id
    assert (customer["partner_id"], customer["partner_name"]) == (assistant.acme.anna, "Anna")
    assert (customer["status"], customer["signup_date"]) == ("conversion", "2026-05-20")
    assert (commission["amount_cents"], commission["net_cents"], commission["currency"]) == (2_000, 1_800, "USD")
    assert (commission["customer_id"], commission["transaction_id"]) == (customer["id"], "inv-1")
    assert customers == []


async def test_a_sale_is_explained(assistant: Assistant, click_id: str):
    payload = (await assistant.tool("explain_attribution", transaction_id="inv-1")).payload

    assert click_id
    assert (payload["verdict"], payload["truncated"]) == ("credited_in_part", False)
    assert [step["step"] for step in payload["trace"]][-1] == "arithmetic"
    assert payload["trace"][-1]["facts"]["net_cents"] == 1_800


async def test_a_likely_key_is_in_a_separate_field_and_not_in_a_text(assistant: Assistant):
    await assistant.acme.customer("User-1")
    await assistant.acme.reject(CustomerNotFound(), customer_key="user-1", transaction_id="inv-9")

    payload = (await assistant.tool("explain_attribution", transaction_id="inv-9")).payload

    assert (payload["verdict"], payload["likely_customer_key"]) == ("customer_not_found", "User-1")
    assert "ser-1" not in payload["smallest_change"]


@pytest.mark.parametrize("asked", [{}, {"transaction_id": "a", "click_id": "b"}])
async def test_exactly_one_identifier_is_explained(assistant: Assistant, asked: dict[str, str]):
    rejection = (await assistant.tool("explain_attribution", **asked)).rejection

    assert rejection["code"] == "validation_error"
    assert {field["field"] for field in rejection["fields"]} == {"transaction_id", "customer_key", "click_id"}


async def test_refused_calls_are_grouped_by_cause_by_default(assistant: Assistant, click_id: str):
    await assistant.acme.reject(InvalidJson())
    await assistant.acme.reject(InvalidJson())

    causes = (await assistant.tool("list_refused_calls")).payload
    calls = (await assistant.tool("list_refused_calls", view="calls", code="customer_not_found")).payload

    assert click_id
    assert [(cause["code"], cause["calls"]) for cause in causes["causes"]] == [
        ("invalid_json", 2),
        ("customer_not_found", 1),
    ]
    assert causes["data"] == []
    assert [(call["customer_key"], call["transaction_id"]) for call in calls["data"]] == [(INERT, "inv-lost")]


async def test_refused_calls_say_what_was_at_stake(assistant: Assistant):
    sent = {"transaction_id": "inv-9", "amount_cents": 4_200, "currency": "EUR"}
    await assistant.acme.reject(DuplicateTransaction(same_payload=False), **sent)

    (cause,) = (await assistant.tool("list_refused_calls")).payload["causes"]
    (call,) = (await assistant.tool("list_refused_calls", view="calls")).payload["data"]

    assert cause["at_stake"] == [{"currency": "EUR", "amount_cents": 4_200}]
    assert (call["amount_cents"], call["currency"], call["same_payload"]) == (4_200, "EUR", False)


async def test_keys_that_do_not_agree_are_grouped_with_the_likely_mapping(assistant: Assistant):
    await assistant.acme.customer("user-1")
    await assistant.acme.reject(CustomerNotFound(), customer_key="USER-1")

    payload = (await assistant.tool("check_identifier_health")).payload

    assert payload["state"] == "mismatched"
    assert payload["groups"][0]["examples"] == [{"sale_key": "USER-1", "lead_key": "user-1"}]


async def test_a_cursor_of_another_list_is_rejected_without_being_repeated(assistant: Assistant):
    rejection = (await assistant.tool("list_events", cursor="Zm9yZ2Vk", version=MODERN)).rejection

    assert rejection["code"] == "validation_error"
    assert rejection["fields"][0]["field"] == "cursor"
    assert "Zm9yZ2Vk" not in str(rejection)


async def test_list_flags_says_why_and_what_is_held_in_inert_words(assistant: Assistant):
    acme = assistant.acme
    evidence = {"referrer_hosts": [HOSTILE], "clicks": 3}
    found = Finding(FlagKind.BRAND_BIDDING, "partner:1", acme.anna, NOW, evidence)
    await acme.store.write(flags.raise_flags, acme.program_id, [found], at=NOW)

    (flag,) = (await assistant.tool("list_flags", state="open", partner_id=acme.anna)).payload["data"]

    assert (flag["kind"], flag["state"], flag["partner_name"]) == ("brand_bidding", "open", "Anna")
    assert flag["reason"].startswith("Visitors came from search ads")
    assert '"clicks":3' in flag["evidence"]
    assert flag["evidence"].isprintable()
    assert (await assistant.tool("list_flags", state="dismissed")).payload["data"] == []
