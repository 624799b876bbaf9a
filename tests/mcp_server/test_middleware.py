"""The checks of every call to /mcp before the protocol: method, headers, key, rate, size."""

import asyncio
import logging
from datetime import timedelta
from typing import Any

import pytest

from storage.access import program_keys
from storage.rules.scope import Scope
from tests.mcp_server.conftest import HANDSHAKE, MODERN, VERSIONS, Answer, Assistant
from tests.world import NOW

pytestmark = pytest.mark.anyio
METHODS = ["tools/call", "tools/list", "prompts/list", "resources/read", "completion/complete"]
MALFORMED = [b"", b"{", b"[]", b'{"jsonrpc":"2.0","method":"notifications/initialized"}']


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
    expired = await assistant.issue(expires_at=NOW)
    invalid = [None, "agt_unknown", "agt_ x", "agt_%C3%BC", expired]
    wrong = [*invalid, assistant.acme.key, await assistant.session()]
    for method in METHODS:
        answers = [await assistant.call(method, {"name": "list_programs"}, version=version, key=key) for key in wrong]

        assert [rejection(answer) for answer in answers] == [(401, "invalid_key")] * 5 + [(401, "wrong_key_type")] * 2
        assert {answer.http.headers["www-authenticate"] for answer in answers} == {"Bearer"}, method
    headers = assistant.headers("x", {}, version, "agt_unknown") | {"Content-Type": "application/json"}
    for content in MALFORMED:
        answer = Answer(await assistant.http.post("/mcp", content=content, headers=headers))

        assert rejection(answer) == (401, "invalid_key"), content


async def test_a_key_from_before_the_prefix_is_of_the_wrong_type(assistant: Assistant):
    old = "0123456789abcdef0123456789abcdef"
    await assistant.acme.store.write(program_keys.import_key, assistant.acme.program_id, old, at=NOW)

    assert rejection(await assistant.call("tools/list", key=old)) == (401, "wrong_key_type")


async def test_an_expired_key_works_until_it_expires(assistant: Assistant):
    key = await assistant.issue(expires_at=assistant.at + timedelta(minutes=1))

    before = await assistant.call("tools/list", key=key)
    assistant.at += timedelta(minutes=1)
    after = await assistant.call("tools/list", key=key)

    assert (before.http.status_code, rejection(after)) == (200, (401, "invalid_key"))


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
    assert limited.error["message"] == "Too many calls with this key."
    assert 0 < int(limited.http.headers["retry-after"]) <= 3600


async def test_a_body_must_be_json_of_at_most_64_kib(assistant: Assistant):
    headers = assistant.headers("ping", {}, HANDSHAKE, "")

    large = [await assistant.tool("list_customers", version=version, customer_key="x" * 65_536) for version in VERSIONS]
    form = Answer(await assistant.http.post("/mcp", data={"a": "b"}, headers=headers))

    assert [rejection(answer) for answer in large] == [(413, "payload_too_large")] * len(VERSIONS)
    assert rejection(form) == (415, "unsupported_media_type")


async def test_each_of_64_clients_makes_one_read(assistant: Assistant, monkeypatch: pytest.MonkeyPatch):
    """A token verifier would read beside the call; here the read that answers is the one that proves the key."""
    reads, loop = 0, asyncio.get_running_loop()
    reader_read = type(assistant.acme.store.reader).read

    async def counted(self: Any, *arguments: Any, **options: Any) -> Any:
        nonlocal reads
        reads += asyncio.get_running_loop() is loop  # a server that other tests share reads on its own
        return await reader_read(self, *arguments, **options)

    monkeypatch.setattr(type(assistant.acme.store.reader), "read", counted)
    key = await assistant.issue([Scope.PROGRAMS_READ])

    answers = await asyncio.gather(*(assistant.tool("get_program", key=key) for _ in range(64)))

    assert {answer.payload["program"]["id"] for answer in answers} == {assistant.acme.program_id}
    assert reads == 64


async def test_a_rejected_request_leaves_no_traceback_in_the_log(
    assistant: Assistant, caplog: pytest.LogCaptureFixture
):
    with caplog.at_level(logging.WARNING):
        await assistant.tool("list_programs", key="agt_unknown")
        await assistant.tool("no_such_tool")
        await assistant.tool("get_program", program_id=999)
        await assistant.call("prompts/get", {"name": "no such prompt"})

    assert caplog.records == []
