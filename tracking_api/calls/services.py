"""What tracking calls use besides storage: the settings, the clock, the limits and what they know of visitors."""

from collections.abc import Callable
from datetime import datetime
from typing import NamedTuple

from configuration import Configuration
from storage import Storage
from storage.rules.click_details import AddressHashes
from storage.rules.handover import HandoverTokens
from tracking_api.calls.places import Places
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
