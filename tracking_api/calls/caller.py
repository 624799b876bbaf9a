"""Who makes a tracking call, when and from where, and what the tracking app knows besides storage."""

from collections.abc import Callable
from datetime import datetime
from functools import cached_property
from typing import NamedTuple

from starlette.types import Scope

from configuration import Configuration
from storage import Storage
from storage.rules import keys
from storage.rules.click_details import Location
from storage.rules.contact import AddressHashes
from storage.rules.errors import InvalidKey
from storage.rules.handover import HandoverTokens
from storage.tracking.principals import PresentedKey
from tracking_api.calls.visitors import Places
from web import body, client
from web.body import RepeatKey
from web.limits import RateLimits


class CallServices(NamedTuple):
    """One for the whole app, at `app.state.calls`.

    `known_programs` are those that were found. The writer looks again, so one that is deleted since is rejected there.
    """

    storage: Storage
    settings: Configuration
    clock: Callable[[], datetime]
    limits: RateLimits
    address_hashes: AddressHashes
    places: Places
    handover_tokens: HandoverTokens
    known_programs: set[int]


class TrackingCaller:
    """The caller of a tracking call, which a call reads and never changes; `at` is the time of the call."""

    def __init__(self, scope: Scope) -> None:
        self.scope = scope
        self.services: CallServices = scope["app"].state.calls
        self.at = self.services.clock()
        self.headers: dict[bytes, bytes] = dict(scope["headers"])
        self.address: str = (scope.get("client") or ("unknown", 0))[0]
        scope["header_fields"] = self.headers

    def header(self, name: bytes) -> str | None:
        """Return a request header's text, if it was sent."""
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

    def repeat_key(self, content: bytes | bytearray) -> RepeatKey | None:
        """Return the Idempotency-Key of a call with this content, if one was sent. Raises ValidationError."""
        return body.repeat_key(self.header(b"idempotency-key"), self.scope["path"], content)

    @property
    def name(self) -> str | None:
        """How the rows of a call with a key name who called."""
        return self.key and self.key.caller

    @property
    def address_hash(self) -> str | None:
        """The hash of the caller's network for today, which is all that is stored of its IP address."""
        return self.services.address_hashes.of(self.address, self.at)

    @property
    def place(self) -> Location:
        """The caller's country and region, as far as the settings tell them."""
        return self.services.places.of(self.headers, self.address)
