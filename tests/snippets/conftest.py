"""The service, and what stands before it."""

from collections.abc import Iterator

import pytest

from tests import failing
from tests.sdks.conftest import built_node  # noqa: F401 - a fixture
from tests.serving import Serve


@pytest.fixture
def service(sqlite_url: str, serve: Serve) -> Iterator[failing.FailingService]:
    """What stands before the service, and fails as a test says."""
    with failing.running(serve(sqlite_url).base_url) as running:
        yield running
