"""The SDKs behind one face, so that the same tests hold for Python with threads, for asyncio, and for Node.js."""

import asyncio
import json
import os
import subprocess
from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

from svc_affiliate import AsyncTrack, ErrorCode, Status, Track, TrackError, TrackResult, WrongField

KEY = "aff_1_secret"
DRIVER = Path(__file__).parent / "driver.mjs"


class Reporter(ABC):
    """A Track of one kind. A test may read the result's fields as those of Python's `TrackResult`."""

    @abstractmethod
    def call(self, name: str, fields: dict[str, Any]) -> TrackResult[Any]:
        """Make one call."""

    @abstractmethod
    def resend(self) -> int:
        """Send what waits."""

    @abstractmethod
    def of(self, cookies: Mapping[str, str]) -> Self:
        """Return the same for a visitor."""

    def lead(self, **fields: Any) -> TrackResult[Any]:
        return self.call("lead", fields)

    def sale(self, **fields: Any) -> TrackResult[Any]:
        return self.call("sale", fields)

    def refund(self, **fields: Any) -> TrackResult[Any]:
        return self.call("refund", fields)


class PythonReporter(Reporter):
    """Either kind of Python's Track."""

    def __init__(self, track: Track | AsyncTrack) -> None:
        self._track = track

    def call(self, name: str, fields: dict[str, Any]) -> TrackResult[Any]:
        made = getattr(self._track, name)(**fields)
        result: TrackResult[Any] = asyncio.run(made) if asyncio.iscoroutine(made) else made
        return result

    def resend(self) -> int:
        return self._track.resend()

    def of(self, cookies: Mapping[str, str]) -> Self:
        return type(self)(self._track.of(cookies))


class Node:
    """A process of Node.js with the built package."""

    def __init__(self, folder: Path, stderr: Path) -> None:
        self._log = stderr.open("wb")
        command = ["node", str(folder / DRIVER.name)]
        self.process = subprocess.Popen(
            command, cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._log
        )
        assert self.process.stdout
        assert self.process.stdout.readline() == b"ready\n"  # a call's time does not include the start

    def ask(self, **line: Any) -> Any:
        """Send a line and return the one that comes back."""
        assert self.process.stdin
        assert self.process.stdout
        environment = {name: value for name, value in os.environ.items() if name.startswith("SERVICE_")}
        line |= {"environment": environment, "folder": str(Path.cwd())}
        self.process.stdin.write(json.dumps(line).encode() + b"\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def end(self) -> None:
        """End the process."""
        self.process.kill()
        self.process.communicate()
        self._log.close()


class NodeReporter(Reporter):
    """Node's Track; options are named as Python's."""

    def __init__(self, node: Node, options: Mapping[str, Any], cookie: str | None = None) -> None:
        self._node, self._options, self._cookie = node, options, cookie

    def call(self, name: str, fields: dict[str, Any]) -> TrackResult[Any]:
        answer = self._ask(name, fields)
        answer.pop("ok")
        status, error = Status(answer.pop("status")), answer.pop("error", None)
        return TrackResult(status, error=_error(**error) if error else None, **answer)

    def resend(self) -> int:
        left: int = self._ask("resend", {})
        return left

    def of(self, cookies: Mapping[str, str]) -> Self:
        cookie = "; ".join(f"{name}={value}" for name, value in cookies.items())
        return type(self)(self._node, self._options, cookie)

    def _ask(self, call: str, fields: dict[str, Any]) -> Any:
        return self._node.ask(options=self._options, cookie=self._cookie, call=call, fields=fields)


def _error(code: str, fields: tuple[dict[str, str], ...] = (), **error: Any) -> TrackError:
    known = ErrorCode(code) if code in set(ErrorCode) else code
    return TrackError(known, fields=tuple(WrongField(**field) for field in fields), **error)
