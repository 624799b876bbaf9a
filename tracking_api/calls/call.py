"""What stands around every tracking call, once: its key, limits, parsing, one storage call, rejections, the response.

A call itself is a function of values, `record(body, caller) -> Recording`; it raises the errors of its body.
"""

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any, Generic, NamedTuple, TypeVar

from pydantic_core import from_json, to_json
from starlette.types import Receive, Scope, Send

from storage.rules.errors import InvalidKey, Overloaded, ServiceError
from storage.tracking import program_terms, test_mode
from storage.tracking.received_calls import Call, PresentedKey, Principal, Public, Repeatable, Replayed, reject
from storage.tracking.test_mode import TestModeCall, TestModeResult
from tracking_api.calls.caller import TrackingCaller
from tracking_api.calls.fields import ANY_ORIGIN, TrackingBody, event_data
from web import body
from web.body import Body
from web.response import JsonResponse, error_response

Parsed = TypeVar("Parsed", bound=Body)
Answer = Mapping[str, Any]  # the fields of a View; a model would take a twentieth of a sale's time


class Recording(NamedTuple):
    """What a call stores: an operation with its item, and the answer that the result becomes.

    With a `principal`, the writer finds its program and gives it to the operation; without one, the operation does.
    The program of `public` is looked up before the writer is asked.
    """

    operation: Callable[..., Any]
    item: Any
    answer: Callable[[Any], Answer]
    principal: Principal | None = None
    public: Public | None = None


class KeyUse(Enum):
    """What a call does with an Authorization header. IGNORED: only test mode reads it, and no rejection is logged."""

    REQUIRED = auto()
    OPTIONAL = auto()
    IGNORED = auto()


@dataclass(eq=False)
class Endpoint(Generic[Parsed]):
    """The ASGI app of a call that records what its body says, or answers at once.

    Without a key, it is counted for its IP address, and for the program that `program_of` finds in its body.
    """

    record: Callable[[Parsed, TrackingCaller], Recording | Answer]
    model: type[Parsed]
    key: KeyUse = KeyUse.REQUIRED
    program_of: Callable[[Parsed], int | None] | None = None

    def __post_init__(self) -> None:
        self.name = self.record.__name__
        self.headers = (ANY_ORIGIN,) if self.program_of else ()  # of every response, errors included

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one call."""
        scope["extra_headers"] = self.headers
        caller = TrackingCaller(scope)
        try:
            response = await self.serve(caller, receive)
        except ServiceError as error:
            response = error_response(error, scope)
        await response(scope, receive, send)

    async def serve(self, caller: TrackingCaller, receive: Receive) -> JsonResponse:
        """Check the key and the limits, parse the body, and store what it records.

        Raises errors that are not logged.
        """
        services, sent, repeatable = caller.services, None, None
        key = None if self.key is KeyUse.IGNORED else caller.key
        if key is None and self.key is KeyUse.REQUIRED:
            raise InvalidKey
        program_of = self.program_of if key is None else None
        try:
            if program_of is not None:
                await services.limits.hit("public", caller.address)
            content = await body.read_body(caller.scope, receive, seconds=services.settings.body_seconds)
            sent = body.parse(self.model, content, empty_is_absent=True)
            if program_of is not None:
                await services.limits.hit(self.name, caller.address, program_of(sent))
            recording = self.record(sent, caller)
            if not isinstance(recording, Recording):
                return JsonResponse(recording)
            if recording.public is not None:
                await _require_program(caller, *recording.public)
            if isinstance(recording.principal, PresentedKey) and b"idempotency-key" in caller.headers:
                repeat = body.repeat_key(caller.header(b"idempotency-key"), caller.scope["path"], content)
                repeatable = repeat and Repeatable(*repeat, lambda result: to_json(recording.answer(result)).decode())
        except ServiceError as error:
            if key is None:
                raise
            return await self.store(Recording(reject, error, dict, key), caller, sent)
        if recording.principal is not None:
            return await self.store(recording, caller, sent, repeatable)
        program_id = recording.public and recording.public.program_id
        result = await services.storage.write_item(program_id or 0, recording.operation, recording.item)
        return _response(recording, result, caller.scope)

    async def store(
        self,
        recording: Recording,
        caller: TrackingCaller,
        sent: Body | None = None,
        repeatable: Repeatable | None = None,
    ) -> JsonResponse:
        """Have the writer run an operation, and return the response.

        Raises RateLimited for a key, and the errors of storage in an outage.
        """
        services, (operation, item, _, principal, _) = caller.services, recording
        assert principal is not None  # noqa: S101 - a call without one is written by `serve`
        if isinstance(principal, PresentedKey):
            await services.limits.hit("keyed", caller.address, principal.key_hash)
        fields = sent.logged if isinstance(sent, TrackingBody) else dict
        call = Call(principal, item, self.name, caller.scope["request_id"], caller.at, fields, repeatable)
        result, key = await services.storage.handle(operation, call)
        response = _response(recording, result, caller.scope)
        if key is not None:
            caller.signal(key, response)
        return response


def event_of_test(kind: str, body: TrackingBody, caller: TrackingCaller, **others: Any) -> TestModeCall:
    """Return the test event of a body: the fields that it shares with the event, and others."""
    sent = {name: getattr(body, name) for name in TestModeCall._fields if hasattr(body, name)}
    extra = {"program_id": body.extra.program_id, "event_name": body.extra.event_name}
    return TestModeCall(**{"kind": kind, "at": caller.at, **sent, **extra, **others})


def recording_of_test(
    event: TestModeCall, key: PresentedKey | None, *, public: Public | None = None, **warned: Any
) -> Recording:
    """Return what stores a test event, with the key that was presented or without one."""

    def answer(stored: TestModeResult) -> Answer:
        data = event_data(stored, test_mode=True)
        return {"success": True, "message": f"Test {event.kind} recorded.", "data": data, **warned}

    operation = test_mode.record_without_key if key is None else test_mode.record_with_key
    return Recording(operation, event, answer, key, public)


async def _require_program(caller: TrackingCaller, program_id: int | None, if_unknown: type[ServiceError]) -> None:
    """Raise `if_unknown` unless there is such a program: a call about none does not reach the writer.

    While every reader is busy the writer, which looks again, decides alone.
    """
    if program_id is None:
        raise if_unknown
    caller.scope["program_id"] = program_id
    if program_id not in caller.services.known_programs:
        with suppress(Overloaded):
            if not await caller.services.storage.read(program_terms.load, [program_id]):
                raise if_unknown
            caller.services.known_programs.add(program_id)


def _response(recording: Recording, result: Any, scope: Scope) -> JsonResponse:
    if isinstance(result, ServiceError):
        return error_response(result, scope)
    if isinstance(result, Replayed):
        return JsonResponse(from_json(result.body), headers={"Idempotency-Replayed": "true"})
    return JsonResponse(recording.answer(result))
