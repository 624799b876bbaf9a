"""Python's SDK, from its source."""

import pytest
from svc_affiliate import Track

from tests.failing import FailingService
from tests.sdks.sdk import Sdk


@pytest.fixture
def sdk(service: FailingService, caplog: pytest.LogCaptureFixture) -> Sdk:
    """The SDK for threads."""
    return Sdk(service, Track, lambda: [record.getMessage() for record in caplog.records])
