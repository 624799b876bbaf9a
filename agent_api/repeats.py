"""Idempotency-Key: a repeated POST gets the first response and is not performed again."""

import hashlib
import json
from collections.abc import Callable
from typing import Any, TypeVar

from pydantic_core import from_json

from agent_api.call import AgentRequest
from presentation.view import View
from storage.access import idempotency
from storage.access.idempotency import Given, Request
from storage.rules.errors import FieldError, ValidationError
from web.response import CreatedResponse

Viewed = TypeVar("Viewed", bound=View)
LONGEST = 255
HEADER = "Idempotency-Key"


async def once(
    call: AgentRequest,
    content: bytes | bytearray,
    operation: Callable[..., Any],
    view: type[Viewed],
    **options: Any,
) -> CreatedResponse[Viewed]:
    """Perform a write on the call's program and return 201 with the view of its result.

    With an Idempotency-Key the response is stored in the same transaction; the same key and body are given it again.
    Raises ValidationError for a key that is none, IdempotencyKeyReused, and what the operation raises.
    """
    repeat = _key(call)
    if repeat is None:
        done = await call.storage.write(operation, call.program_id, **options, lane=call.program_id)
        return CreatedResponse(view.of(done))

    def perform(connection: Any) -> Given:
        created = view.of(operation(connection, call.program_id, **options))
        return Given(CreatedResponse.success, created.model_dump_json(exclude_unset=True))

    request = Request(call.key.id, repeat, _fingerprint(call, content), call.at)
    given = await call.storage.write(idempotency.once, request, perform, lane=call.program_id)
    headers = {"Idempotency-Replayed": "true"} if given.replayed else {}
    return CreatedResponse[Viewed].stored(json.loads(given.body), headers)


def _key(call: AgentRequest) -> str | None:
    sent = call.request.headers.get(HEADER)
    if sent is not None and not (0 < len(sent) <= LONGEST and sent.isascii() and sent.isprintable()):
        raise ValidationError(fields=[FieldError(HEADER, f"1 to {LONGEST} printable ASCII characters")])
    return sent


def _fingerprint(call: AgentRequest, content: bytes | bytearray) -> str:
    """Return a hash of the URL and the body, whatever the spacing and order of its JSON."""
    body = json.dumps(from_json(content), sort_keys=True)
    return hashlib.sha256(f"{call.request.url.path}\n{body}".encode()).hexdigest()
