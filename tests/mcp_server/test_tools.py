"""What each tool answers: what storage holds, under names and units that the server's instructions explain."""

from datetime import timedelta

import pytest

import background
from storage.access import program_keys
from storage.management import partners, program_settings
from storage.rules.errors import CustomerNotFound
from storage.rules.scope import Scope
from storage.rules.settings import SETTINGS
from tests.mcp_server.conftest import Assistant
from tests.world import NOW

# Rows asked for, of how many days; how they are grouped, and how many there are at most or one less or more.
ROWS = [("day", 53, "day", 53), ("day", 54, "week", 9), ("day", 400, "month", 15), ("week", 1_830, "month", 61)]


async def test_programs_are_those_the_key_reaches_and_sandboxes_are_apart(assistant: Assistant):
    acme = assistant.acme
    second = await acme.beside(name="Second")
    sandbox_id, _ = await acme.do(program_settings.open_sandbox)
    narrowed = await assistant.issue(program_ids=[acme.program_id])

    every = (await assistant.tool("list_programs")).payload
    some = (await assistant.tool("list_programs", key=narrowed)).payload
    compared = (await assistant.tool("list_programs", period="7d")).payload

    assert [program["id"] for program in every["data"]] == [second.program_id, acme.program_id]
    assert some["data"] == every["data"][1:]
    assert every["applied_query"] == {"limit": 25}
    assert (every["truncated"], every["next_cursor"]) == (False, None)
    assert [each["id"] for each in compared["data"]] == [second.program_id, acme.program_id]
    assert [(each["id"], each["sandbox_of"]) for each in compared["sandboxes"]] == [(sandbox_id, acme.program_id)]


async def test_a_program_shows_its_terms_its_key_s_state_and_who_uses_it_and_no_secret(assistant: Assistant):
    acme, few = assistant.acme, await assistant.issue([Scope.PROGRAMS_READ])
    await acme.reject(CustomerNotFound(), user_agent="shop/1\u200b", network_hash="ab12")
    await background.save_callers(acme.store)
    before = (await assistant.tool("get_program")).payload["program"]
    await acme.do(program_keys.flag, rotate_by=NOW + timedelta(days=9))
    flagged = (await assistant.tool("get_program")).payload["program"]
    await acme.do(program_keys.regenerate)
    await acme.do(partners.enrol, name="Eve", code="eve", email="eve@partners.example")
    assistant.at += timedelta(days=7)
    used = (await assistant.tool("get_program", usage=True, key=few)).payload
    changed = (await assistant.tool("list_changes")).payload

    assert (before["commission_type"], before["commission_rate"], before["currency"]) == ("percent", 20, "USD")
    assert {setting.public_name for setting in SETTINGS if setting.default is not None} <= before.keys()
    assert (before["program_key_state"], "program_key_rotate_by" in before) == ("active", False)
    assert (flagged["program_key_state"], flagged["program_key_rotate_by"]) == ("flagged", "2026-05-29T12:00:00Z")
    assert not any(hidden in str((flagged, changed)) for hidden in (acme.key[-4:], "eve@partners.example"))
    assert {"partner.enrol", "program_key.regenerate"} <= {each["action"] for each in changed["data"]}
    assert used["unusual"] == {}  # of which another scope reads
    shop = next(each for each in used["key_callers"] if each.get("user_agent") == "shop/1")
    assert (shop["key"], shop["network_hash"], shop["calls"]) == ("replaced", "ab12", {"sale": 1})
    assert (shop["caller"], shop["weeks"], shop["stopped"]) == ("shop/1 ab12", {"2026-05-18": 1}, True)


@pytest.mark.usefixtures("click_id")
async def test_several_identifiers_are_looked_up_in_all_programs_that_the_key_reads_and_in_no_other(
    assistant: Assistant,
):
    acme = assistant.acme
    second = await acme.beside(name="Second")
    for each in (second, assistant.globex):
        await each.customer("theirs")
        await each.sale("inv-77", customer_key="theirs")
    ids = ["inv-1", "theirs", "inv-77", "nothing"]
    narrowed = await assistant.issue(program_ids=[acme.program_id])

    found, one = [
        (await assistant.call("tools/call", {"name": "explain_attribution", "arguments": each})).payload
        for each in ({"ids": ids}, {"transaction_id": "inv-77"})
    ]
    within = (await assistant.tool("explain_attribution", ids=ids, key=narrowed)).payload["found"]

    rows = [(row["id"], row.get("program_id"), row["verdict"]) for row in found["found"]]
    assert rows == [
        ("inv-1", acme.program_id, "credited_in_part"),
        ("theirs", second.program_id, "credited"),
        ("inv-77", second.program_id, "credited"),
        ("nothing", None, "not_recorded"),
    ]
    assert [row["program_id"] for row in one["found"]] == [second.program_id]
    assert [row["verdict"] for row in within] == ["credited_in_part", *["not_recorded"] * 3]


@pytest.mark.usefixtures("click_id")
async def test_rows_that_would_be_too_many_become_coarser(assistant: Assistant):
    for asked, days, applied, rows in ROWS:
        dates = {"date_from": str((NOW - timedelta(days=days - 1)).date()), "date_to": str(NOW.date())}

        payload = (await assistant.tool("get_performance", breakdown=asked, **dates)).payload

        assert payload["applied_query"]["breakdown"] == applied, days
        assert "period" not in payload["applied_query"]
        assert abs(len(payload["rows"]) - rows) <= 1, days
        for total in ("clicks", "leads", "revenue_cents", "commission_cents"):
            assert sum(row[total] for row in payload["rows"]) == payload["totals"][total], days


async def test_a_name_of_several_partners_is_rejected_with_their_ids(assistant: Assistant):
    acme = assistant.acme
    for code in ("a", "b"):
        await acme.do(partners.enrol, name="Namesake", code=code)

    rejection = (await assistant.tool("get_partner", partner="namesake")).rejection

    assert "send partner_id" in rejection["fields"][0]["message"]


async def test_an_assistant_follows_what_changed(assistant: Assistant):
    await assistant.acme.flag()
    whole = (await assistant.tool("changes_since")).payload
    await assistant.acme.customer("user-77")

    since = (await assistant.tool("changes_since", cursor=whole["cursor"])).payload

    assert whole["summary"]["needs_action"][0]["kind"] == "flag.raise"
    assert [each["kind"] for each in since["data"]] == ["lead.record"]
