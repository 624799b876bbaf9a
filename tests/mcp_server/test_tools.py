"""What each tool answers: what storage holds, under names and units that the server's instructions explain."""

import json
from datetime import timedelta

import pytest

import background
from storage.access import program_keys
from storage.engine.audit import By
from storage.management import program_settings
from storage.rules.errors import CustomerNotFound, RefundExceedsSale
from storage.rules.scope import Scope
from storage.rules.settings import SETTINGS
from tests.mcp_server.conftest import Assistant
from tests.mcp_server.test_stories import OWNER
from tests.world import NOW

# Rows asked for, of how many days; how they are grouped, and how many there are at most or one less or more.
ROWS = [("day", 53, "day", 53), ("day", 54, "week", 9), ("day", 400, "month", 15), ("week", 1_830, "month", 61)]


async def test_programs_are_those_the_key_reaches_and_sandboxes_are_apart(assistant: Assistant):
    acme = assistant.acme
    second = await acme.beside(name="Second")
    sandbox_id, _ = await acme.store.write(program_settings.open_sandbox, acme.program_id, by=By(OWNER, NOW))
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


async def test_a_program_shows_its_terms_its_key_s_state_and_who_uses_it(assistant: Assistant):
    acme = assistant.acme
    await acme.reject(CustomerNotFound(), user_agent="shop/1\u200b", network_hash="ab12")
    await background.save_callers(acme.store)
    before = (await assistant.tool("get_program")).payload["program"]
    await acme.do(program_keys.flag, rotate_by=NOW + timedelta(days=9))
    flagged = (await assistant.tool("get_program")).payload["program"]
    await acme.do(program_keys.regenerate)
    assistant.at += timedelta(days=7)
    callers = (await assistant.tool("get_program", usage=True)).payload["key_callers"]

    assert (before["commission_type"], before["commission_rate"], before["currency"]) == ("percent", 20, "USD")
    assert {setting.public_name for setting in SETTINGS if setting.default is not None} <= before.keys()
    assert (before["program_key_state"], "program_key_rotate_by" in before) == ("active", False)
    assert (flagged["program_key_state"], flagged["program_key_rotate_by"]) == ("flagged", "2026-05-29T12:00:00Z")
    assert acme.key[-4:] not in str(flagged)
    shop = next(each for each in callers if each.get("user_agent") == "shop/1")
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


async def test_a_program_says_what_is_unusual_against_its_own_past(assistant: Assistant):
    acme = assistant.acme
    await acme.customer()
    await acme.sale()
    for days in range(4, 24):
        for _ in range(6):
            await acme.click(at=NOW - timedelta(days=days))
    await acme.reject(RefundExceedsSale(), call="refund", transaction_id="inv-1", amount_cents=112_000)

    unusual = (await assistant.tool("get_program", usage=True)).payload["unusual"]
    few = await assistant.issue(scopes=(Scope.PROGRAMS_READ,))

    [clicks], [refund] = unusual["figures"], unusual["refunds_larger_than_the_sale"]
    assert (clicks["figure"], clicks["value"], clicks["usual"]) == ("clicks", 0, 12.9)
    assert (clicks["first"], clicks["last"], clicks["last_day"]) == ("2026-05-17", "2026-05-19", "2026-05-16")
    assert (refund["transaction_id"], refund["sale_cents"], refund["times"]) == ("inv-1", 10_000, 11.2)
    assert (await assistant.tool("get_program", usage=True, key=few)).payload["unusual"] == {}


async def visit(assistant: Assistant, **carried: str) -> None:
    await assistant.acme.visitor(dimensions=json.dumps(carried))


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


@pytest.mark.usefixtures("click_id")
async def test_programs_are_compared_by_calendar_month(assistant: Assistant):
    second = await assistant.acme.beside(name="Second")
    await second.customer()

    compared = (await assistant.tool("list_programs", period="this_month")).payload
    report = (await assistant.tool("get_performance", period="this_month", compare_with=[second.program_id])).payload

    assert compared["window"] == report["window"] == {"first": "2026-05-01", "last": "2026-05-31"}
    assert compared["previous_window"] == {"first": "2026-04-01", "last": "2026-04-30"}
    other, own = compared["data"]
    assert (own["totals"], own["previous_totals"]) == (report["totals"], report["previous_totals"])
    assert (other["currency"], other["totals"]["clicks"]) == ("USD", 1)
    assert [row["id"] for row in report["programs"]] == [second.program_id]


async def test_a_breakdown_is_a_table_of_values_and_metrics(assistant: Assistant):
    await visit(assistant, utm_source="letter\u200b\ufe0f\U000e0041", country="DE")
    await visit(assistant, utm_source="letter\u200b\ufe0f\U000e0041", country="SE")
    await visit(assistant, country="SE")

    whole = (await assistant.tool("get_breakdown", by="utm_source", metrics="clicks, revenue_cents", limit=1)).payload
    part = (await assistant.tool("get_breakdown", by="os,country", filters="country=DE")).payload
    none = (await assistant.tool("get_breakdown", by="country", filters="utm_source=(none)")).payload

    assert whole["columns"] == ["utm_source", "clicks", "revenue_cents"]
    assert (whole["untrusted"], part["untrusted"]) == (["utm_source"], ["os", "country"])
    assert whole["rows"] == [["letter", 2, 0]]
    assert (whole["other_groups"], whole["sums"]) == (1, {"other": [1, 0], "total": [3, 0]})
    days = (await assistant.tool("get_breakdown", by="week,day", metrics="clicks", compare="previous")).payload
    other = (
        await assistant.tool("get_breakdown", by="country", metrics="clicks", compare="2026-05-20/2026-05-20")
    ).payload

    assert (days["columns"], days["rows"]) == (
        ["week", "day", "clicks", "compared_clicks"],
        [["2026-05-18", "2026-05-20", 3, 0]],
    )
    assert (days["compared"], days["sums"]["compared_total"]) == ({"first": "2026-05-07", "last": "2026-05-13"}, [0])
    assert other["rows"] == [["SE", 2, 2], ["DE", 1, 1]]
    assert [row[:3] for row in part["rows"]] == [[None, "DE", 1]]
    assert [row[:2] for row in none["rows"]] == [["SE", 1]]
