"""What stands around each tracking call, `record(body, caller)`: its key, limits, parsing, storage, the response."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from email.utils import format_datetime
from functools import cached_property
from http import HTTPStatus
from typing import Any, Generic, Literal, NamedTuple, TypeVar

from pydantic_core import from_json, to_json
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from configuration import Configuration
from storage import Storage
from storage.access.program_keys import ProgramKey
from storage.engine.sealing import Sealer
from storage.management import referrals
from storage.rules import keys
from storage.rules.contact import AddressHashes
from storage.rules.errors import InvalidKey, Overloaded, ServiceError
from storage.tracking import program_terms, test_mode
from storage.tracking.received_calls import Call, PresentedKey, Principal, Public, Repeatable, Replayed, reject
from tracking_api.calls.fields import ALLOWED, ANY_ORIGIN, WARNINGS, TrackingBody, event_data
from tracking_api.calls.visitors import Places
from web import body, client, dry_run
from web.limits import RateLimits
from web.response import JsonResponse, error_response

Parsed = TypeVar("Parsed", bound=body.Body)
Answer = Mapping[str, Any]  # the fields of a View; a model would take a twentieth of a sale's time
_PREFLIGHT: ASGIApp = Response(status_code=204)
_RESPONDS: ASGIApp = JsonResponse({"success": True})


class CallServices(NamedTuple):
    """One for the whole app, at `app.state.calls`. The writer looks for the `known_programs` again."""

    storage: Storage
    settings: Configuration
    clock: Callable[[], datetime]
    limits: RateLimits
    address_hashes: AddressHashes
    places: Places
    known_programs: set[int]
    sealer: Callable[[], Sealer]


class TrackingCaller:
    """The caller of a tracking call, which a call reads and never changes; `at` is the time of the call.

    The storage of a dry run stores nothing. Raises ValidationError for a malformed header, InvalidKey without a key.
    """

    def __init__(self, scope: Scope) -> None:
        self.scope = scope
        self.services: CallServices = scope["app"].state.calls
        self.at = self.services.clock()
        self.headers: dict[bytes, bytes] = dict(scope["headers"])
        self.address: str = (scope.get("client") or ("unknown", 0))[0]
        scope["header_fields"] = self.headers
        self.is_dry = dry_run.NAME in self.headers and dry_run.is_wanted(self.header(dry_run.NAME))
        self.storage = self.services.storage.dry_run if self.is_dry else self.services.storage
        if self.is_dry and self.key is None:
            raise InvalidKey("A dry run needs the program key.")

    def header(self, name: bytes) -> str | None:
        value = self.headers.get(name)
        return None if value is None else value.decode("latin-1").strip()

    @cached_property
    def key(self) -> PresentedKey | None:
        """The presented program key, None without an Authorization header. Raises InvalidKey."""
        header = self.header(b"authorization")
        if header is None:
            return None
        credential = client.bearer(header)
        if credential is None:
            raise InvalidKey
        network_hash = self.services.address_hashes.of_caller(self.address)
        by = (self.header(b"user-agent"), network_hash)
        return PresentedKey(keys.digest(credential), keys.key_program(credential), *by)

    def signal(self, key: ProgramKey, response: JsonResponse) -> None:
        """Add the headers (RFC 9745, RFC 8594) of a flagged or expired key, and a warning before its deadline."""
        self.scope["program_id"] = key.program_id
        if key.rotate_by is None or key.flagged_at is None:
            return
        docs_url = f"{self.services.settings.base_url}/docs/key-rotation"
        response.headers = {
            **response.headers,
            "Deprecation": f"@{int(key.flagged_at.timestamp())}",
            "Sunset": format_datetime(key.rotate_by, usegmt=True),
            "Link": f'<{docs_url}>; rel="deprecation", <{docs_url}>; rel="sunset"',
        }
        if keys.rotation_state(key.rotate_by, self.at) == keys.Rotation.FLAGGED:
            response.warn({**WARNINGS["api_key_rotation_required"], "rotate_by": key.rotate_by, "docs_url": docs_url})


class Recording(NamedTuple):
    """What a call stores: an operation with its item, and the answer that the result becomes.

    The writer gives the operation the program of `principal`; that of `public` is looked up before the writer is asked.
    """

    operation: Callable[..., Any]
    item: Any
    answer: Callable[[Any], Answer]
    principal: Principal | None = None
    public: Public | None = None


@dataclass(eq=False)
class Endpoint(Generic[Parsed]):
    """The ASGI app of a call; without a key it is counted for its IP address and the program of `program_of`."""

    record: Callable[[Parsed, TrackingCaller], Recording | Answer]
    model: type[Parsed]
    key: Literal["required", "optional", "ignored"] = "required"  # ignored: for test mode, and no rejection is logged
    program_of: Callable[[Parsed], int | None] | None = None

    def __post_init__(self) -> None:
        self.name = self.record.__name__
        self.headers = (ANY_ORIGIN,) if self.program_of else ()  # of every response, errors included

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one call, or the preflight request of one for pages; HEAD without a body only says that it responds."""
        scope["extra_headers"], response = self.headers, _RESPONDS
        if scope["method"] == "OPTIONS" and self.headers:
            scope["extra_headers"], response = (ANY_ORIGIN, *ALLOWED), _PREFLIGHT
        elif scope["method"] != "HEAD" or not self.headers or b"content-type" in dict(scope["headers"]):
            try:
                caller = TrackingCaller(scope)
                response = await self.serve(caller, receive)
                if caller.is_dry and response.status == HTTPStatus.OK:
                    dry_run.mark(response)
            except ServiceError as error:
                response = error_response(error, scope)
        await response(scope, receive, send)

    async def serve(self, caller: TrackingCaller, receive: Receive) -> JsonResponse:
        """Check the key and limits, parse the body, and store what it records. Raises errors that are not logged."""
        services, sent, repeatable = caller.services, None, None
        key = None if self.key == "ignored" else caller.key
        if key is None and self.key == "required":
            raise InvalidKey
        program_of = self.program_of if key is None else None
        try:
            if program_of is not None:
                await services.limits.hit("public", caller.address)
            content = await body.read_body(caller.scope, receive, seconds=services.settings.body_seconds)
            sent = _opened(body.parse(self.model, content, empty_is_absent=True), services)
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
        result = await caller.storage.write_item(program_id or 0, recording.operation, recording.item)
        return _response(recording, result, caller.scope)

    async def store(
        self, recording: Recording, caller: TrackingCaller, sent: body.Body | None, repeatable: Repeatable | None = None
    ) -> JsonResponse:
        """Have the writer run an operation, and return the response. Raises RateLimited for a key."""
        services, (operation, item, _, principal, _) = caller.services, recording
        assert principal is not None  # noqa: S101 - a call without one is written by `serve`
        if isinstance(principal, PresentedKey):
            await services.limits.hit("keyed", caller.address, principal.key_hash)
        fields = sent.logged if isinstance(sent, TrackingBody) else dict
        about = (self.name, caller.scope["request_id"], caller.at)
        call = Call(principal, item, *about, fields, repeatable, lambda text: services.sealer().seal(text))
        result, key = await caller.storage.handle(operation, call)
        response = _response(recording, result, caller.scope)
        if key is not None:
            caller.signal(key, response)
        return response


def recording_of_test(
    event: test_mode.TestModeCall, key: PresentedKey | None, *, public: Public | None = None, **warned: Any
) -> Recording:
    """Return what stores a test event, with the key that was presented or without one."""

    def answer(stored: test_mode.TestModeResult) -> Answer:
        data = event_data(stored, test_mode=True)
        return {"success": True, "message": f"Test {event.kind} recorded.", "data": data, **warned}

    operation = test_mode.record_without_key if key is None else test_mode.record_with_key
    return Recording(operation, event, answer, key, public)


def _opened(sent: Parsed, services: CallServices) -> Parsed:
    """Return a parsed body with the click of its referral token, if it has one."""
    named = vars(sent).get("click_id") if isinstance(sent, TrackingBody) else None
    click_id = referrals.click_of(named, services.sealer)
    return sent if click_id is named else sent.model_copy(update={"click_id": click_id})


async def _require_program(caller: TrackingCaller, program_id: int | None, if_unknown: type[ServiceError]) -> None:
    """Raise `if_unknown` without such a program; while all readers are busy the writer, which looks again, decides."""
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
