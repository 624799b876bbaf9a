"""Node's SDK, built and installed."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.failing import FailingService
from tests.sdks.node.reporting import Node, NodeTrack
from tests.sdks.sdk import Sdk


@pytest.fixture
def sdk(service: FailingService, built_node: Path, tmp_path: Path) -> Iterator[Sdk]:
    """The SDK in a process of its own."""
    node = Node(built_node, tmp_path / "stderr")
    yield Sdk(
        service,
        lambda **options: NodeTrack(node, options),
        lambda: (tmp_path / "stderr").read_text(encoding="utf-8").splitlines(),
    )
    node.end()
