"""What an assistant asks goes through a browser that can neither read nor change it, and comes back with an answer."""

from datetime import timedelta

import pytest

from storage.engine.sealing import Sealer
from storage.rules.errors import NotFound
from tests.storage.access.test_assistants import ASKED
from tests.world import NOW
from tracking_api.authorization.requests import response_url, seal, unseal


def test_a_request_is_sealed_in_the_browser_for_twenty_minutes():
    sealer, other = Sealer("key"), Sealer("another")
    sealed = seal(ASKED, sealer, at=NOW)

    assert unseal(sealed, sealer, at=NOW) == ASKED
    assert "assistant" not in sealed
    for wrong in ((sealed, other, NOW), (sealed[:-4], sealer, NOW), (sealed, sealer, NOW + timedelta(minutes=20))):
        with pytest.raises(NotFound):
            unseal(*wrong[:2], at=wrong[2])


def test_a_response_url_preserves_the_query_and_names_the_issuer():
    answer = response_url(ASKED, "https://track.example", code="oac_1")

    assert answer == "https://assistant.example/callback?a=1&code=oac_1&state=s%26t&iss=https%3A%2F%2Ftrack.example"
