"""What people ask their assistants: at most two calls and 24 KB of each, and the answer is what SQL says."""

import json
import re
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

from sqlalchemy import Connection

from tests.mcp_server import two_months
from tests.mcp_server.conftest import Assistant

WRITTEN = Path(__file__).with_name("questions.sql").read_text(encoding="utf-8")
QUESTIONS = re.findall(r"^-- (.*)\n((?:-- \w+ \{.*\}\n)+)(SELECT [^;]*);\n(SELECT [^;]*);", WRITTEN, re.MULTILINE)
CALL = re.compile(r"-- (\w+) (\{.*\})")


def _run(connection: Connection, sql: str) -> list[list[Any]]:
    return [list(row) for row in connection.exec_driver_sql(sql)]


async def _ask(assistant: Assistant, calls: list[tuple[str, str]], reading: str) -> list[list[Any]]:
    """Make the calls, and return the rows that SQL reads of their results."""
    found = [(await assistant.tool(name, **json.loads(arguments))).payload for name, arguments in calls]
    results = dict(zip(("first", "second"), map(json.dumps, found), strict=False))
    with closing(sqlite3.connect(":memory:")) as memory:
        return [list(row) for row in memory.execute(reading, results)]


async def test_each_question_is_answered_by_at_most_two_calls_as_sql_answers_it(assistant: Assistant):
    await two_months.spend(assistant)
    answers: dict[str, Any] = {}
    truth: dict[str, Any] = {}
    for asked, calls, reading, sql in QUESTIONS:
        answers[asked] = await _ask(assistant, CALL.findall(calls), reading)
        truth[asked] = await assistant.acme.store.read(_run, sql.replace(":acme", str(assistant.acme.program_id)))

    assert answers == truth
    assert all(truth.values())
    assert len(truth) == 30
    assert max(len(CALL.findall(calls)) for _, calls, _, _ in QUESTIONS) == 2
