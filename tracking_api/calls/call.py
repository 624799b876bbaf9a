"""The steps of every tracking call: parse, identify, one storage call, respond."""

from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any, TypeVar

from pydantic_core import from_json, to_json
from starlette.types import Receive, Scope, Send

from storage.access.program_keys import ProgramKey
from storage.rules import keys
from storage.rules.errors import (
    InvalidKey,
    OutcomeUnknown,
    Overloaded,
    ProgramNotFound,
    RateLimited,
    ServiceError,
    StorageUnavailable,
)
from storage.rules.reports.dimensions import Location
from storage.tracking import program_terms, test_mode
from storage.tracking.principals import PresentedKey, Principal, reject
from storage.tracking.rejection_log import CallDetails
from storage.tracking.repeated_calls import Repeatable, Replayed
from storage.tracking.test_mode import TestModeCall, TestModeResult
from tracking_api.calls import rotation
from tracking_api.calls.fields import DEFAULT_CURRENCY
from tracking_api.calls.services import CallServices
from web import body, credentials
from web.body import Body
from web.response import JsonResponse, error_response

LOGGED = ("customer_key", "click_id", "transaction_id", "amount_cents", "currency")
NOT_LOGGED = (RateLimited, Overloaded, StorageUnavailable, OutcomeUnknown)
Parsed = TypeVar("Parsed", bound=Body)
Handler = Callable[["TrackingRequest"], Awaitable[JsonResponse]]


class TrackingRequest:
    """One request to a tracking endpoint, with what it may use: storage, settings and the time."""

    def __init__(self, name: str, scope: Scope, receive: Receive) -> None:
        self.services: CallServices = scope["app"].state.calls
        self.name = name
        self.scope = scope
        self.storage = self.services.storage
        self.at = self.services.clock()
        self.headers: dict[bytes, bytes] = dict(scope["headers"])
        scope["header_fields"] = self.headers
        self.client: str = (scope.get("client") or ("unknown", 0))[0]
        self.parsed: Body | None = None
        self.key: ProgramKey | None = None  # the presented key, once storage has read it
        self.is_logged = False
        self._content: bytes | bytearray = b""
        self._receive = receive

    async def parse(self, model: type[Parsed]) -> Parsed:
        """Return the body as a model; raises the errors of `web.body`."""
        content = await body.read_body(self.scope, self._receive, seconds=self.services.settings.body_seconds)
        parsed = body.parse(model, content, empty_is_absent=True)
        self._content = content
        self.parsed = parsed
        return parsed

    def header(self, name: bytes) -> str | None:
        """Return a request header's text, if it was sent."""
        value = self.headers.get(name)
        return None if value is None else value.decode("latin-1").strip()

    @property
    def principal(self) -> PresentedKey | None:
        """The presented program key, None without an Authorization header. Raises InvalidKey."""
        header = self.header(b"authorization")
        if header is None:
            return None
        credential = credentials.bearer(header)
        if credential is None:
            raise InvalidKey
        return PresentedKey(keys.digest(credential), keys.key_program(credential))

    def require_key(self) -> PresentedKey:
        """Return the presented program key. Raises InvalidKey if there is none."""
        principal = self.principal
        if principal is None:
            raise InvalidKey
        return principal

    async def respond(
        self, operation: Callable[..., Any], item: Any, principal: Principal, content: Callable[[Any], dict[str, Any]]
    ) -> JsonResponse:
        """Run a tracking operation and return `content(result)` as a 200; with an Idempotency-Key and a key, once.

        Raises the operation's error, which is then logged; IdempotencyKeyReused.
        """
        repeatable = None
        sent = body.idempotency_key(self.header(b"idempotency-key"))
        if sent is not None and isinstance(principal, PresentedKey):
            fingerprint = body.fingerprint(self.scope["path"], self._content)
            repeatable = Repeatable(sent, fingerprint, lambda result: to_json(content(result)).decode())
        result = await self.handle(operation, item, principal, repeatable)
        if isinstance(result, Replayed):
            return JsonResponse(from_json(result.body), headers={"Idempotency-Replayed": "true"})
        return JsonResponse(content(result))

    async def handle(
        self,
        operation: Callable[..., Any],
        item: Any,
        principal: Principal,
        repeatable: Repeatable | None = None,
    ) -> Any:
        """Run a tracking operation for a principal and return its result; raises its error, which is then logged.

        A call with a key is counted against its rate limit first: raises RateLimited.
        """
        caller: dict[str, Any] = {}
        if isinstance(principal, PresentedKey):
            await self.limit("keyed", principal.key_hash)
            network = self.services.address_hashes.of_caller(self.client)
            caller = {"user_agent": self.header(b"user-agent"), "network_hash": network}
        details = CallDetails(self.name, self.scope["request_id"], self.at, **self._sent(), **caller)
        outcome = await self.storage.handle(
            operation, item, principal=principal, details=details, repeatable=repeatable
        )
        self.key = outcome.key
        if outcome.key is not None:
            self.scope["program_id"] = outcome.key.program_id
        self.is_logged = True
        if isinstance(outcome.result, ServiceError):
            raise outcome.result
        return outcome.result

    def _sent(self) -> dict[str, Any]:
        """Return the fields of the body that the rejection log stores: its identifiers and its amount."""
        sent = {name: getattr(self.parsed, name, None) for name in LOGGED}
        extra = getattr(self.parsed, "additional_data", None)
        if extra is not None and extra.test_mode:
            sent |= {"amount_cents": None, "currency": None}
        elif self.name == "sale" and sent["amount_cents"] is not None:
            sent["currency"] = sent["currency"] or DEFAULT_CURRENCY
        return sent

    def answer(self, content: dict[str, object]) -> JsonResponse:
        """Return a 200."""
        return JsonResponse(content)

    async def test(self, event: TestModeCall, key: PresentedKey | None) -> JsonResponse:
        """Store a test event, with the key that was presented or without one, and return the response."""
        if key is None:
            return JsonResponse(self._tested(await self.storage.write(test_mode.record_without_key, event)))
        return await self.respond(test_mode.record_with_key, event, key, self._tested)

    def _tested(self, tested: TestModeResult) -> dict[str, Any]:
        data = {"eventId": tested.event_id, "programId": tested.program_id, "test_mode": True}
        return {"success": True, "message": f"Test {self.name} recorded.", "data": data}

    def address_hash(self) -> str | None:
        """Return the hash of the client's network for today, which is all that is stored of its IP address."""
        return self.services.address_hashes.of(self.client, self.at)

    def place(self) -> Location:
        """Return the client's country and region, as far as the settings tell them."""
        return self.services.places.of(self.headers, self.client)

    async def require_program(self, program_id: int | None, if_unknown: type[ServiceError] = ProgramNotFound) -> None:
        """Raise `if_unknown` unless there is such a program: a call about none does not reach the writer.

        While every reader is busy the writer, which looks again, decides alone.
        """
        known = self.services.known_programs
        if program_id is None:
            raise if_unknown
        self.scope["program_id"] = program_id
        if program_id not in known:
            with suppress(Overloaded):
                if not await self.storage.read(program_terms.load, [program_id]):
                    raise if_unknown
                known.add(program_id)

    def limit(self, call: str, about: int | str | None = None) -> Awaitable[None]:
        """Count a call against the rate limit of its IP address, program or key. Raises RateLimited."""
        return self.services.limits.hit(call, self.client, about)

    def signal(self, response: JsonResponse) -> JsonResponse:
        """Add rotation signalling to any response, if the presented key needs it."""
        if self.key is None:
            return response
        docs_url = f"{self.services.settings.base_url}/docs/key-rotation"
        return rotation.signal(response, self.key, at=self.at, docs_url=docs_url)


class Endpoint:
    """An ASGI app around a handler: it turns errors into responses and has those of keyed calls logged.

    `public` calls take no key: they ignore an Authorization header.
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
            response = await self._handler(call)
        except ServiceError as error:
            if not (self._public or call.is_logged):
                error = await _log(call, error)
            response = error_response(error, scope)
        await call.signal(response)(scope, receive, send)


async def _log(call: TrackingRequest, error: ServiceError) -> ServiceError:
    """Log an error from before storage, if a key was presented. Return the error to send: a wrong key comes first."""
    try:
        principal = call.principal
        if principal is not None and not isinstance(error, NOT_LOGGED):
            await call.handle(reject, error, principal)
    except ServiceError as first:
        return first
    return error
