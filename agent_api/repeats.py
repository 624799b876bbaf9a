"""Idempotency-Key: a repeated POST gets the first response and is not performed again."""

import json
from collections.abc import Callable
from typing import Any, TypeVar

from agent_api.call import AgentRequest
from presentation.view import View
from storage.access import idempotency
from storage.access.idempotency import Request, WriteResponse
from web import body
from web.response import CreatedResponse

Viewed = TypeVar("Viewed", bound=View)
HEADER = body.IDEMPOTENCY_KEY


async def once(
    call: AgentRequest,
    content: bytes | bytearray,
    operation: Callable[..., Any],
    view: type[Viewed],
    **options: Any,
) -> CreatedResponse[Viewed]:
    """Perform a write on the call's program and return 201 with the view of its result.

    With an Idempotency-Key the same transaction stores the response; the same key and body get it again.
    Raises ValidationError for an invalid key, IdempotencyKeyReused, and the errors of the operation.
    """
    repeat = body.repeat_key(call.request.headers.get(HEADER), call.request.url.path, content)
    if repeat is None:
        done = await call.storage.write_in(call.program_id, operation, call.program_id, **options)
        return CreatedResponse(view.of(done))

    def perform(connection: Any) -> WriteResponse:
        created = view.of(operation(connection, call.program_id, **options))
        return WriteResponse(CreatedResponse.success, created.model_dump_json(exclude_unset=True))

    request = Request(call.key.id, *repeat, call.at)
    stored = await call.storage.write_in(call.program_id, idempotency.once, request, perform)
    headers = {"Idempotency-Replayed": "true"} if stored.replayed else {}
    return CreatedResponse[Viewed].stored(json.loads(stored.body), headers)
