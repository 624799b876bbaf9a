"""Reading a body: in how many pieces it comes, and what happens when it does not."""

import asyncio
import itertools
from collections.abc import Iterable
from typing import Any

import pytest
from starlette.types import Message, Receive

from storage.rules.errors import InvalidJson, PayloadTooLarge, UnsupportedMediaType
from web import body
from web.errors import BodyTooSlow, error_headers

JSON: dict[str, Any] = {"headers": [(b"content-type", b"application/json")]}


def pieces(messages: Iterable[Message]) -> Receive:
    """Receive these messages one after the other, then nothing more for ever."""
    coming = iter(messages)

    async def receive() -> Message:
        message = next(coming, None)
        if message is None:
            await asyncio.Event().wait()
        assert message is not None
        return message

    return receive


def piece(content: bytes, *, more: bool) -> Message:
    return {"type": "http.request", "body": content, "more_body": more}


async def test_a_body_in_pieces_is_put_together():
    receive = pieces([piece(b'{"a"', more=True), piece(b"", more=True), piece(b": 1}", more=False)])

    assert await body.read_body(JSON, receive) == b'{"a": 1}'


async def test_reading_stops_at_the_first_byte_too_many():
    endless = itertools.repeat(piece(b" " * 10, more=True))

    assert len(await body.read_body(JSON, pieces([piece(b" " * 25, more=False)]), largest=25)) == 25
    for messages in ([piece(b" " * 26, more=False)], endless):
        with pytest.raises(PayloadTooLarge):
            await body.read_body(JSON, pieces(messages), largest=25)


async def test_a_declared_length_is_rejected_before_a_byte_is_read():
    async def untouched() -> Message:
        pytest.fail("the body was read")

    declared = {"headers": [*JSON["headers"], (b"content-length", b"%d" % (body.LARGEST_BODY + 1))]}
    with pytest.raises(PayloadTooLarge):
        await body.read_body(declared, untouched)


async def test_a_connection_that_ends_early_is_no_body():
    receive = pieces([piece(b"{", more=True), {"type": "http.disconnect"}])

    with pytest.raises(InvalidJson, match="ended before"):
        await body.read_body(JSON, receive)


async def test_the_deadline_is_for_the_whole_body():
    with pytest.raises(BodyTooSlow) as rejected:
        await body.read_body(JSON, pieces([piece(b"{", more=True)]), seconds=0.01)

    assert error_headers(rejected.value) == {"Connection": "close"}


async def test_a_body_of_another_type_is_not_read_and_json_with_parameters_is_json():
    for declared in (b"application/json; charset=utf-8", b"Application/JSON", b"application/json ;x=y"):
        sent = {"headers": [(b"content-type", declared)]}
        assert await body.read_body(sent, pieces([piece(b"{}", more=False)])) == b"{}"

    for headers in ([], [(b"content-type", b"application/jsonp")]):
        with pytest.raises(UnsupportedMediaType):
            await body.read_body({"headers": headers}, pieces([]))


def test_of_a_key_sent_twice_the_last_one_counts():
    class Named(body.Body):
        name: str

    assert body.parse(Named, b'{"name": "a", "name": "b"}') == Named(name="b")
