"""Idempotency-Key: a POST that is repeated is answered as the first time, without being done again."""

import hashlib
import json
from collections.abc import Callable
from typing import Any

from pydantic_core import from_json, to_json

from agent_api.call import AgentRequest
from storage.access import idempotency
from storage.access.idempotency import Given, Request
from storage.rules.errors import FieldError, ValidationError
from web.response import JsonResponse

LONGEST = 255
HEADER = "Idempotency-Key"


async def once(
    call: AgentRequest,
    content: bytes | bytearray,
    operation: Callable[..., Any],
    shown: Callable[[Any], Any],
    **options: Any,
) -> JsonResponse:
    """Perform a write on the call's program and answer 201 with what is `shown` of its result.

    With an Idempotency-Key the answer is stored in the same transaction; the same key and body are given it again.
    Raises ValidationError for a key that is none, IdempotencyKeyReused, and what the operation raises.
    """
    repeat = _key(call)
    if repeat is None:
        done = await call.storage.write(operation, call.program_id, **options, lane=call.program_id)
        return JsonResponse(shown(done), 201)

    def perform(connection: Any) -> Given:
        return Given(201, to_json(shown(operation(connection, call.program_id, **options))).decode())

    request = Request(call.key.id, repeat, _fingerprint(call, content), call.at)
    given = await call.storage.write(idempotency.once, request, perform, lane=call.program_id)
    headers = {"Idempotency-Replayed": "true"} if given.replayed else {}
    return JsonResponse(json.loads(given.body), given.status, headers)


def _key(call: AgentRequest) -> str | None:
    sent = call.request.headers.get(HEADER)
    if sent is not None and not (0 < len(sent) <= LONGEST and sent.isascii() and sent.isprintable()):
        raise ValidationError(fields=[FieldError(HEADER, f"1 to {LONGEST} printable ASCII characters")])
    return sent


def _fingerprint(call: AgentRequest, content: bytes | bytearray) -> str:
    """Return a hash of what is asked for: the address and the body, however its JSON is spaced or ordered."""
    body = json.dumps(from_json(content), sort_keys=True)
    return hashlib.sha256(f"{call.request.url.path}\n{body}".encode()).hexdigest()
