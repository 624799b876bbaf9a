"""Node's SDK, built and installed, with the face of Python's, so that the same tests hold for both."""

import json
import os
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from functools import partialmethod
from pathlib import Path
from typing import Any

import pytest
from svc_affiliate import ErrorCode, Status, TrackError, TrackResult, WrongField

from tests.failing import FailingService
from tests.sdks.conftest import Sdk

DRIVER = Path(__file__).parent / "driver.mjs"


class Node:
    """A process of Node.js with the built package."""

    def __init__(self, folder: Path, stderr: Path) -> None:
        node = ["node", shutil.copy(DRIVER, folder)]
        with stderr.open("wb") as log:
            self.process = subprocess.Popen(node, cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log)
        assert self.process.stdout
        assert self.process.stdout.readline() == b"ready\n"  # a call's time does not include the start

    def ask(self, **line: Any) -> Any:
        assert self.process.stdin
        assert self.process.stdout
        environment = {name: value for name, value in os.environ.items() if name.startswith("SERVICE_")}
        line |= {"environment": environment, "folder": str(Path.cwd())}
        self.process.stdin.write(json.dumps(line).encode() + b"\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def end(self) -> None:
        self.process.kill()
        self.process.communicate()


class NodeTrack:
    """A Track; its options and its results' fields are named as Python's."""

    def __init__(self, node: Node, options: Mapping[str, Any]) -> None:
        self._node, self._options = node, options

    def resend(self) -> int:
        left: int = self._ask("resend", {})
        return left

    def _call(self, name: str, **fields: Any) -> TrackResult[Any]:
        answer = self._ask(name, fields)
        answer.pop("ok")
        status, error = Status(answer.pop("status")), answer.pop("error", None)
        return TrackResult(status, error=_error(**error) if error else None, **answer)

    lead = partialmethod(_call, "lead")
    sale = partialmethod(_call, "sale")
    refund = partialmethod(_call, "refund")

    def _ask(self, call: str, fields: dict[str, Any]) -> Any:
        options = {name: str(value) if isinstance(value, Path) else value for name, value in self._options.items()}
        if "timeout_seconds" in options:
            options["timeout_ms"] = options.pop("timeout_seconds") * 1000
        return self._node.ask(options=options, call=call, fields=fields)


def _error(code: str, fields: tuple[dict[str, str], ...] = (), **error: Any) -> TrackError:
    known = ErrorCode(code) if code in set(ErrorCode) else code
    return TrackError(known, fields=tuple(WrongField(**field) for field in fields), **error)


@pytest.fixture
def sdk(service: FailingService, built_node: Path, tmp_path: Path) -> Iterator[Sdk]:
    node = Node(built_node, tmp_path / "stderr")
    yield Sdk(
        service,
        lambda **options: NodeTrack(node, options),
        lambda: (tmp_path / "stderr").read_text(encoding="utf-8").splitlines(),
    )
    node.end()
