"""Who makes a tracking call, when and from where, and what the tracking app knows besides storage."""

from collections.abc import Callable
from datetime import datetime
from email.utils import format_datetime
from functools import cached_property
from typing import NamedTuple

from starlette.types import Scope

from configuration import Configuration
from storage import Storage
from storage.access.program_keys import ProgramKey
from storage.rules import keys
from storage.rules.contact import AddressHashes
from storage.rules.errors import InvalidKey
from storage.rules.keys import Rotation, rotation_state
from storage.tracking.handovers import HandoverTokens
from storage.tracking.received_calls import PresentedKey
from tracking_api.calls.visitors import Places
from web import client
from web.limits import RateLimits
from web.response import JsonResponse

FLAGGED = {
    "code": "api_key_rotation_required",
    "message": "This program key must be replaced before its deadline; calls with it are rejected from then on.",
    "hint": "An owner regenerates it under Settings, Developers, API keys. The old key stops at once: "
    "deploy the new one.",
}


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

    @property
    def name(self) -> str | None:
        """How the rows of a call with a key name who called."""
        return self.key and self.key.caller

    @property
    def address_hash(self) -> str | None:
        """The hash of the caller's network for today, which is all that is stored of its IP address."""
        return self.services.address_hashes.of(self.address, self.at)

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
        if rotation_state(key.rotate_by, self.at) == Rotation.FLAGGED:
            response.warn({**FLAGGED, "rotate_by": key.rotate_by, "docs_url": docs_url})
