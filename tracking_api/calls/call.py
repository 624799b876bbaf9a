"""What every tracking call goes through: parse, identify, one storage call, answer."""

from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import TypeVar

from starlette.types import Receive, Scope, Send

from configuration import Configuration
from storage import Storage
from storage.access.program_keys import ProgramKey
from storage.rules import keys
from storage.rules.errors import InvalidKey, Overloaded, ServiceError
from storage.tracking.rejection_log import RejectedCall
from storage.tracking.rejection_log import record as record_refusal
from storage.tracking.test_mode import TestModeResult
from tracking_api.calls import rotation
from web import body, credentials
from web.body import Body
from web.errors import STATUS
from web.response import JsonResponse, error_response

Parsed = TypeVar("Parsed", bound=Body)
Handler = Callable[["TrackingRequest"], Awaitable[JsonResponse]]


class TrackingRequest:
    """One request to a tracking endpoint, with what it may use: storage, settings and the time."""

    def __init__(self, name: str, scope: Scope, receive: Receive) -> None:
        state = scope["app"].state
        self.name = name
        self.scope = scope
        self.storage: Storage = state.storage
        self.settings: Configuration = state.settings
        self.at: datetime = state.clock()
        self.headers: dict[bytes, bytes] = dict(scope["headers"])
        scope["header_fields"] = self.headers
        self.parsed: Body | None = None
        self._receive = receive

    async def parse(self, model: type[Parsed]) -> Parsed:
        """Return the body as a model; raises what `web.body` raises."""
        parsed = body.parse(model, await body.read_body(self.scope, self._receive, seconds=self.settings.body_seconds))
        self.parsed = parsed
        return parsed

    def header(self, name: bytes) -> str | None:
        """Return a request header's text, if it was sent."""
        value = self.headers.get(name)
        return None if value is None else value.decode("latin-1").strip()

    @property
    def key_hash(self) -> str | None:
        """The hash of the presented program key; None without an Authorization header. Raises InvalidKey."""
        header = self.header(b"authorization")
        if header is None:
            return None
        credential = credentials.bearer(header)
        if credential is None:
            raise InvalidKey
        return keys.digest(credential)

    def require_key(self) -> str:
        """Return the hash of the presented program key. Raises InvalidKey when there is none."""
        key_hash = self.key_hash
        if key_hash is None:
            raise InvalidKey
        return key_hash

    def answer(self, content: dict[str, object], key: ProgramKey | None = None) -> JsonResponse:
        """Return a 200, with rotation signalling where the key calls for it."""
        return self.signal(JsonResponse(content), key)

    def tested(self, tested: TestModeResult) -> JsonResponse:
        """Return the answer to a test-mode call."""
        data = {"eventId": tested.event_id, "programId": tested.program_id, "test_mode": True}
        return self.answer({"success": True, "message": f"Test {self.name} recorded.", "data": data}, tested.key)

    async def limit(self, call: str, program_id: int | None) -> None:
        """Count a public call against its rate limit. Raises RateLimited."""
        client = self.scope.get("client") or ("unknown", 0)
        await self.scope["app"].state.limits.hit(call, client[0], program_id)

    def signal(self, answer: JsonResponse, key: ProgramKey | None) -> JsonResponse:
        """Add rotation signalling to any answer."""
        return rotation.signal(answer, key, at=self.at, docs_url=f"{self.settings.base_url}/docs/key-rotation")


class Endpoint:
    """An ASGI app around a handler: it turns refusals into answers and logs those of keyed calls.

    `public` calls take no key: an Authorization header is none of their business.
    """

    def __init__(self, handler: Handler, *, public: bool = False) -> None:
        self._handler = handler
        self._public = public
        self.__name__ = handler.__name__
        self.__doc__ = handler.__doc__

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one call."""
        call = TrackingRequest(self.__name__, scope, receive)
        try:
            answer = await self._handler(call)
        except ServiceError as refusal:
            answer = await (_refuse_public if self._public else _refuse)(call, refusal)
        await answer(scope, receive, send)


async def _refuse_public(call: TrackingRequest, refusal: ServiceError) -> JsonResponse:
    return error_response(refusal, call.scope["request_id"])


async def _refuse(call: TrackingRequest, refusal: ServiceError) -> JsonResponse:
    """Answer a refusal; one that came with a key is logged first, and a key that does not work outranks it."""
    try:
        key_hash = call.key_hash
    except InvalidKey as malformed:
        return await _refuse_public(call, malformed)
    if key_hash is None or isinstance(refusal, Overloaded):
        return await _refuse_public(call, refusal)
    logged = RejectedCall(
        key_hash=key_hash,
        call=call.name,
        refusal=refusal,
        status=STATUS[refusal.code],
        request_id=call.scope["request_id"],
        at=call.at,
        customer_key=getattr(call.parsed, "customer_key", None),
        click_id=getattr(call.parsed, "click_id", None),
        transaction_id=getattr(call.parsed, "transaction_id", None),
    )
    told, key = await call.storage.write(record_refusal, logged, lane=key_hash)
    return call.signal(error_response(told, call.scope["request_id"]), key)
