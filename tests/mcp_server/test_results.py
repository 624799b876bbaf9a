"""Results stay below 24 KB whatever is stored, go on where they ended, and have untrusted text made inert."""

import json
import sqlite3
import unicodedata
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_server.results import LONGEST, NOTE, clean, shown, table, text_of
from storage.lists.commissions import COMMISSIONS
from storage.lists.customers import CUSTOMERS
from storage.lists.declaration import List, ListQuery, ListScope
from storage.lists.events import EVENTS
from storage.lists.find import find
from storage.lists.partners import PARTNERS
from tests.mcp_server.conftest import EVERY_TOOL, HOSTILE, INERT, MOST, VERSIONS, Assistant
from tests.world import NOW

WIDE = '\U0001f4b8"\\' * 80  # what takes most bytes: outside the basic plane, and escaped
MILLIS = int(NOW.timestamp() * 1000)
CROWD = Path(__file__).with_name("crowd.sql").read_text(encoding="utf-8")
ASKED: list[tuple[str, dict[str, Any]]] = [
    *({**EVERY_TOOL, "get_customer": {"customer_id": 7}}).items(),
    *((name, {"limit": 100}) for name in EVERY_TOOL if name.startswith("list_")),
    ("list_refused_calls", {"view": "calls", "limit": 100}),
    ("explain_attribution", {"customer_key": "lost"}),
    ("get_performance", {"period": "90d", "breakdown": "day", "top_partners": 20}),
    ("get_performance", {"date_from": "2021-05-20", "date_to": "2026-05-20", "breakdown": "day", "top_partners": 20}),
    *(("get_integration_guide", {"topic": topic}) for topic in ("errors", "metrics", "key-rotation")),
]
ANY_TEXT = st.text(st.characters(exclude_categories=[]), max_size=400)  # lone surrogates too


@pytest.fixture
async def crowded(assistant: Assistant, sqlite_url: str) -> Assistant:
    """Acme with 100,000 events and more, every text of a stranger as large as it may be."""
    acme = assistant.acme
    with sqlite3.connect(Path(sqlite_url.partition(":///")[2])) as connection:
        for statement in CROWD.split(";\n"):
            connection.execute(statement, {"p": acme.program_id, "anna": acme.anna, "t": MILLIS, "w": WIDE})
    connection.close()
    return assistant


async def test_every_result_stays_below_24_kb_with_100_000_hostile_events(crowded: Assistant):
    for version in VERSIONS:
        for name, asked in ASKED:
            answer = await crowded.tool(name, version=version, **asked)

            assert answer.payload
            assert len(answer.http.content) < MOST, (name, len(answer.http.content))


async def test_pages_that_are_cut_skip_and_repeat_nothing(crowded: Assistant):
    lists: list[List[Any]] = [EVENTS, CUSTOMERS, COMMISSIONS, PARTNERS]
    for listed in lists:
        scope = ListScope(crowded.acme.program_id, NOW)
        truth: Any = await crowded.acme.store.read(find, listed, scope, ListQuery(200))

        seen: list[Any] = []
        cursor: dict[str, str] = {}
        while len(seen) < len(truth.data):
            payload = (await crowded.tool(f"list_{listed.name}", limit=100, **cursor)).payload
            assert payload["truncated"]
            cursor = {"cursor": payload["next_cursor"]}
            seen += [row["id"] for row in payload["data"]]

        assert seen[:200] == [row.id for row in truth.data]


async def test_a_sorted_page_that_is_cut_goes_on_after_its_last_row_and_a_list_too_long_for_that_says_so(
    crowded: Assistant,
):
    asked: dict[str, Any] = {"kind": "sale", "sort": "customer_key", "limit": 100, "date_to": "2026-05-20"}
    first = (await crowded.tool("list_events", **asked)).payload
    second = (await crowded.tool("list_events", **asked, cursor=first["next_cursor"])).payload

    every = (await crowded.tool("list_events", sort="customer_key", totals=True)).payload
    keys = [row["customer_key"].casefold() for row in (*first["data"], *second["data"])]
    assert first["truncated"]
    assert keys == sorted(keys, reverse=True)
    assert len({row["id"] for row in (*first["data"], *second["data"])}) == len(keys)
    assert ("sort" in every["applied_query"], "totals" in every) == (False, False)


def test_a_short_or_ragged_list_stays_a_list_and_a_long_result_is_sent_once():
    ragged = [{f"field_{n}": n} for n in range(11)]
    for rows in ([{"a": 1}], [{"a": 1, "b": n} for n in range(10)], ragged):
        assert shown({"data": rows}) == {"data": rows}
        assert json.loads(text_of({"data": rows})) == {"data": rows}
    assert json.loads(text_of({"data": ["x"] * 6_000, "next_cursor": "y"})) == {"next_cursor": "y", "note": NOTE}
    assert table([{"a": 1, "b": {"c": n}, "d": []} for n in range(9)]) == {
        "same": {"a": 1, "d": []},
        "columns": ["b.c"],
        "rows": [[n] for n in range(9)],
    }


@given(ANY_TEXT)
def test_any_text_is_sanitized(text: str):
    cleaned = clean(text)

    assert len(cleaned) <= LONGEST
    assert {unicodedata.category(character) for character in cleaned}.isdisjoint({"Cc", "Cf", "Co", "Cs", "Zl", "Zp"})
    assert cleaned == unicodedata.normalize("NFC", cleaned)
    assert cleaned == cleaned.strip()
    assert clean(cleaned) == cleaned
    cleaned.encode()


@given(st.text(st.characters(codec="ascii", categories=["L", "N", "P", "S"]), max_size=LONGEST))
def test_plain_text_stays_as_it_is(text: str):
    assert clean(text) == text


def test_invisible_characters_are_removed():
    cleaned = json.loads(Path(__file__).with_name("cleaned.json").read_text(encoding="utf-8"))
    cleaned |= {HOSTILE: INERT, "x" * 300: "x" * 200}

    assert {text: clean(text) for text in cleaned} == cleaned
