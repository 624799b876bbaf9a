"""The MCP app: its hosts, the checks of every call before the protocol, and a reader behind it that cannot write."""

import asyncio
import contextlib
import dataclasses
import logging
import sqlite3
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import pytest
from sqlalchemy import Connection

import storage
from storage import Reader, Storage
from storage.access import agent_keys, program_keys
from storage.engine import read_queue
from storage.rules.scope import Scope
from tests.mcp_server.conftest import BASE, HANDSHAKE, MODERN, VERSIONS, Answer, Assistant
from tests.serving import in_the_loop
from tests.world import NOW

OURS = ("svc.test", "svc.test:80", "localhost", "localhost:1234", "127.0.0.1:9", "[::1]:9")
OTHERS = ("evil.example", "svc.test.evil.example", "localhost.evil.example:80", "10.1.2.3:8000")
HOSTS = dict.fromkeys(OURS, 200) | dict.fromkeys(OTHERS, 421)
METHODS = ["tools/call", "tools/list", "prompts/list", "resources/read", "completion/complete"]
MALFORMED = [b"", b"{", b"[]", b'{"jsonrpc":"2.0","method":"notifications/initialized"}']


@pytest.mark.parametrize("version", VERSIONS)
async def test_host_and_origin_must_be_those_of_the_service_or_of_this_machine(assistant: Assistant, version: str):
    origins = {"http://evil.example": 403, "http://localhost:6274": 200}

    async def status(**header: str) -> int:
        return (await assistant.call("tools/list", version=version, headers=header)).http.status_code

    assert {host: await status(Host=host) for host in HOSTS} == HOSTS
    assert {origin: await status(Origin=origin) for origin in origins} == origins


async def test_the_ip_address_of_the_socket_is_accepted_as_host(unserved: Assistant):
    async with unserved.serving(base_url="https://track.example"):
        unserved.http.base_url = httpx.URL("http://10.1.2.3:8000")
        served = await unserved.call("tools/list", version=HANDSHAKE)
        rebound = await unserved.call("tools/list", version=HANDSHAKE, headers={"Host": "rebound.example:8000"})

    assert (served.http.status_code, rebound.http.status_code) == (200, 421)


async def test_the_whole_service_serves_it_and_logging_stays_as_it_was(sqlite_url: str):
    before = (logging.getLogger().level, list(logging.getLogger().handlers))
    async with in_the_loop(BASE, database_url=sqlite_url, base_url=BASE) as (client, _):
        unkeyed = await client.post("/mcp", json={})
        others = [await client.get(path) for path in ("/llms.txt", "/mcp/else")]
        metadata = await client.get("/.well-known/oauth-protected-resource/mcp")

    assert [answer.status_code for answer in (unkeyed, *others)] == [401, 200, 404]
    assert metadata.status_code == 404  # there is no authorization server: some clients would drop their header for it
    assert (logging.getLogger().level, list(logging.getLogger().handlers)) == before


def rejection(answer: Answer) -> tuple[int, str]:
    assert answer.http.headers["x-request-id"] == answer.http.json()["request_id"]
    return answer.http.status_code, answer.error["code"]


async def test_only_post_is_served_and_no_stream_stays_open(assistant: Assistant):
    headers = assistant.headers("ping", {}, HANDSHAKE, "")
    for method in ("GET", "DELETE", "PUT", "HEAD", "OPTIONS"):
        answer = await assistant.http.request(method, "/mcp", headers=headers)

        assert (method, answer.status_code, answer.headers["allow"]) == (method, 405, "POST")
        assert answer.headers["content-type"] == "application/json"


@pytest.mark.parametrize("version", VERSIONS)
async def test_invalid_keys_get_the_same_error_for_any_request(assistant: Assistant, version: str):
    expired = await assistant.issue(expires_at=assistant.at)
    invalid = [None, "agt_unknown", "agt_ x", "agt_%C3%BC", expired]
    old = "0123456789abcdef0123456789abcdef"  # a program's key from before the prefix
    await assistant.acme.do(program_keys.import_key, old)
    wrong = [*invalid, assistant.acme.key, await assistant.acme.sign_in(), old]
    for method in METHODS:
        answers = [await assistant.call(method, {"name": "list_programs"}, version=version, key=key) for key in wrong]

        assert [rejection(answer) for answer in answers] == [(401, "invalid_key")] * 5 + [(401, "wrong_key_type")] * 3
        assert {answer.http.headers["www-authenticate"] for answer in answers} == {"Bearer"}, method
    headers = assistant.headers("x", {}, version, "agt_unknown") | {"Content-Type": "application/json"}
    for content in MALFORMED:
        answer = Answer(await assistant.http.post("/mcp", content=content, headers=headers))

        assert rejection(answer) == (401, "invalid_key"), content


async def test_white_space_around_header_values_does_not_matter(assistant: Assistant):
    """httptools hands values on as they were sent: a padded Mcp-Name would differ from the body's."""
    called = {"name": "list_programs", "arguments": {}}
    headers = assistant.headers("tools/call", called, MODERN, "")
    padded = {name: f" \t{value} \t" for name, value in headers.items()}

    answer = await assistant.call("tools/call", called, headers=padded)

    assert answer.http.request.headers["mcp-name"] == " \tlist_programs \t"
    assert answer.payload["data"]


async def test_a_key_has_a_rate_limit(unserved: Assistant):
    async with unserved.serving(rate_limit=True, mcp_rate="2/hour"):
        served = [await unserved.tool("list_programs", version=version) for version in (MODERN, HANDSHAKE)]
        limited = await unserved.call("tools/list")
        other = await unserved.call("tools/list", key=await unserved.issue())

    assert [answer.http.status_code for answer in (*served, other)] == [200] * 3
    assert rejection(limited) == (429, "rate_limited")
    assert 0 < int(limited.http.headers["retry-after"]) <= 3600


async def test_a_body_must_be_json_of_at_most_64_kib(assistant: Assistant):
    headers = assistant.headers("ping", {}, HANDSHAKE, "")

    large = [await assistant.tool("list_customers", version=version, customer_key="x" * 65_536) for version in VERSIONS]
    form = Answer(await assistant.http.post("/mcp", data={"a": "b"}, headers=headers))

    assert [rejection(answer) for answer in large] == [(413, "payload_too_large")] * len(VERSIONS)
    assert rejection(form) == (415, "unsupported_media_type")


async def test_each_of_64_clients_makes_one_read(assistant: Assistant, monkeypatch: pytest.MonkeyPatch):
    """A token verifier would read beside the call; the read that answers proves a key that has worked before."""
    reads, loop = 0, asyncio.get_running_loop()
    reader_read = type(assistant.acme.store.reader).read

    async def counted(self: Any, *arguments: Any, **options: Any) -> Any:
        nonlocal reads
        reads += asyncio.get_running_loop() is loop  # a server that other tests share reads on its own
        return await reader_read(self, *arguments, **options)

    key = await assistant.issue([Scope.PROGRAMS_READ])
    await assistant.tool("get_program", key=key)
    monkeypatch.setattr(type(assistant.acme.store.reader), "read", counted)

    answers = await asyncio.gather(*(assistant.tool("get_program", key=key) for _ in range(64)))

    assert {answer.payload["program"]["id"] for answer in answers} == {assistant.acme.program_id}
    assert reads == 64


WRITING = [
    *("INSERT INTO tracking_log VALUES (1, 1, 'x', 'x', NULL, 1)", "UPDATE programs SET name = 'x'"),
    *("DELETE FROM clicks", "CREATE TEMP TABLE x (y)", "PRAGMA query_only = OFF", "ATTACH 'other.db' AS other"),
]


async def test_the_server_is_handed_a_reader_that_cannot_write(assistant: Assistant):
    reader = assistant.acme.store.reader

    assert type(reader) is Reader
    assert not isinstance(reader, Storage)
    assert not hasattr(reader, "write")
    for sql in WRITING:
        with pytest.raises(Exception, match=r"not authorized|readonly"):
            await reader.read(partial(Connection.exec_driver_sql, statement=sql))
    await assistant.tool("list_programs")
    (key,) = await reader.read(agent_keys.list_all, workspace_id=assistant.acme.workspace_id)
    assert key.last_used_at is None


async def test_results_say_how_far_the_replica_is_and_a_revoked_key_is_dead_at_once(
    unserved: Assistant, database_url: str, tmp_path: Path
):
    await unserved.acme.store.write(read_queue.probe, at=NOW)
    with contextlib.closing(sqlite3.connect(database_url.partition(":///")[2])) as source:
        source.execute("VACUUM INTO ?", [f"{tmp_path}/replica.db"])  # as a replica copies a database that is in use
    async with storage.opened(database_url, replica_url=f"sqlite+aiosqlite:///{tmp_path}/replica.db") as store:
        await store.measure_replica(at=NOW + timedelta(seconds=2))
        assistant = Assistant(dataclasses.replace(unserved.acme, store=store), unserved.globex)
        assistant.good = await assistant.issue()
        await assistant.acme.visitor()
        async with assistant.serving():
            report = await assistant.tool("get_performance", period="7d")
            await store.write(agent_keys.revoke, 2, at=NOW)
            revoked = await assistant.tool("get_performance", period="7d")

    assert report.payload["as_of"] == "2026-05-20T12:00:00Z"
    assert report.payload["totals"]["clicks"] == 0
    assert revoked.http.status_code == 401
