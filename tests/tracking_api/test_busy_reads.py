"""The response to a caller when every reading connection is busy."""

import pytest

from storage.engine import read_queue
from tests.busy import Busy
from tests.tracking_api.conftest import Api


async def test_a_read_that_waits_too_long_gets_503_with_retry_after(api: Api, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(read_queue, "LONGEST_WAIT_SECONDS", 0.01)

    async with Busy(api.acme.store):
        answer = await api.client.get("/api/v1/cli/status", headers=api.keyed)
        clicked = await api.click()

    assert (answer.status_code, answer.json()["error"]["code"]) == (503, "overloaded")
    assert answer.headers["Retry-After"] == "1"
    assert clicked.status_code == 200
