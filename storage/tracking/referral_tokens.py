"""Referral tokens: the click id of a referral and its signature, which calls send in place of a click id.

The click id names the program and the expiry. Without its signature no call can use it, so that lists and logs may show
it; the database limits it to one customer, as any click.
"""

from collections.abc import Callable

from storage.engine.sealing import Sealer
from storage.rules import keys

_LONGEST_CLICK_ID = 64
_PURPOSE = "referral tokens"


def token_of(click_id: str, sealer: Sealer) -> str:
    """Return the token of a referral's click."""
    return f"{click_id}.{sealer.sign(_PURPOSE, click_id)}"


def click_of(named: str | None, sealer: Callable[[], Sealer]) -> str | None:
    """Return the click id that a call names, by itself or in a token; for a forged token one that no click has."""
    if named is None or keys.UNTIL not in named:
        return named
    click_id, _, signature = named.rpartition(".")
    return click_id if sealer().has_signed(_PURPOSE, click_id, signature) else f"{named[:_LONGEST_CLICK_ID]}."
