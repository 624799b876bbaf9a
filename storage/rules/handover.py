"""Hand-overs: a signed token takes a visitor's click to another domain of the program, once and within five minutes."""

import hmac
import re
import secrets
from collections.abc import Callable, Iterable
from datetime import datetime, timedelta
from functools import cached_property
from typing import NamedTuple

from storage.rules import keys
from storage.rules.errors import FieldError, InvalidHandover, ValidationError

LIFETIME = timedelta(minutes=5)
_PURPOSE = b"hand-over tokens"
_ORIGIN = re.compile(r"https?://([a-z0-9.-]{1,253})(:[0-9]{1,5})?")


class Handover(NamedTuple):
    """What a token says; its nonce can be used once."""

    click_id: str
    nonce: str
    expires_at: datetime


class HandoverTokens:
    """Issues and opens tokens with a key that is derived from the service's secret key: every worker has the same."""

    def __init__(self, secret: Callable[[], str]) -> None:
        self._secret = secret

    def issue(self, program_id: int, click_id: str, at: datetime) -> str:
        """Return a new token for a click. Raises ValidationError for one that does not name the program."""
        if keys.click_program(click_id) != program_id:
            raise ValidationError(fields=[FieldError("click_id", "Must be a click_id of this program")])
        expires = int((at + LIFETIME).timestamp())
        content = f"{click_id}.{expires:x}.{secrets.token_hex(16)}"
        return f"{content}.{self._signature(program_id, content)}"

    def open(self, program_id: int, token: str, at: datetime) -> Handover:
        """Return what a token says. Raises InvalidHandover if it is not of this program, forged or expired."""
        content, _, signature = token.rpartition(".")
        if not hmac.compare_digest(signature.encode(), self._signature(program_id, content).encode()):
            raise InvalidHandover
        click_id, expires, nonce = content.rsplit(".", 2)
        expires_at = datetime.fromtimestamp(int(expires, 16), at.tzinfo)
        if at >= expires_at:
            raise InvalidHandover
        return Handover(click_id, nonce, expires_at)

    @cached_property
    def _key(self) -> bytes:
        return hmac.digest(self._secret().encode(), _PURPOSE, "sha256")

    def _signature(self, program_id: int, content: str) -> str:
        return hmac.digest(self._key, f"{program_id}.{content}".encode(), "sha256").hex()


def is_own_origin(origin: str, domains: Iterable[str]) -> bool:
    """Return whether the origin of a page is one of some domains or of their subdomains, on any port unless named.

    A leading `www.` of a domain does not count: the pages of shop.example belong to www.shop.example.
    """
    found = _ORIGIN.fullmatch(origin)
    hosts = (found[1], f"{found[1]}{found[2] or ''}") if found else ()
    own = [f".{domain.removeprefix('www.')}" for domain in domains]
    return any(f".{host}".endswith(domain) for host in hosts for domain in own)
