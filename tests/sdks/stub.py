"""A service that answers as a test says: with errors of the real service, slowly, or not at all."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from threading import Event
from typing import Any, NamedTuple

from storage.rules.errors import BY_CODE
from tests import threads
from web.errors import STATUS, error_body

HANGS, DRIPS, CUTS = "hangs", "drips", "cuts the connection"
RECORDED = {"success": True, "message": "Lead recorded."}


class Received(NamedTuple):
    """A request as it arrived."""

    call: str
    body: dict[str, Any]
    headers: dict[str, str]


class Canned(NamedTuple):
    """A response that the stub gives."""

    status: int = 200
    content: str = json.dumps(RECORDED)
    headers: dict[str, str] = {}  # noqa: RUF012 - it never changes


@dataclass
class Stub:
    """A service on a socket: gives `answers` in turn, the last one again and again; `received` are the requests."""

    answers: list[Canned | str] = field(default_factory=lambda: [Canned()])
    received: list[Received] = field(default_factory=list)
    over: Event = field(default_factory=Event)
    base_url: str = ""


def rejection(code: str, **details: Any) -> Canned:
    """Return the service's own response for an error."""
    error = BY_CODE[code](**details)
    return Canned(STATUS[code], json.dumps(error_body(error, "0" * 24)))


class _Handler(BaseHTTPRequestHandler):
    stub: Stub

    def do_POST(self) -> None:
        """Give the next answer."""
        content = self.rfile.read(int(self.headers["Content-Length"]))
        self.stub.received.append(Received(self.path.rpartition("/")[2], json.loads(content), dict(self.headers)))
        answer = self.stub.answers.pop(0) if len(self.stub.answers) > 1 else self.stub.answers[0]
        if isinstance(answer, Canned):
            self._send(answer)
        elif answer == HANGS:
            self.stub.over.wait()
        elif answer == DRIPS:
            self._drip()

    def _send(self, answer: Canned) -> None:
        self.send_response(answer.status)
        for name, value in ({"Content-Length": str(len(answer.content.encode()))} | answer.headers).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(answer.content.encode())

    def _drip(self) -> None:
        self.send_response(200)
        self.send_header("Content-Length", "1000")
        self.end_headers()
        try:
            while not self.stub.over.wait(0.1):
                self.wfile.write(b" ")
        except OSError:
            return

    def log_message(self, *_: Any) -> None:
        """Keep quiet."""


@contextmanager
def running() -> Iterator[Stub]:
    """Run a stub until the block ends."""
    stub = Stub()
    handler = type("Handler", (_Handler,), {"stub": stub})
    server = threads.HttpServer(("127.0.0.1", 0), handler)
    stub.base_url = f"http://127.0.0.1:{server.server_port}"
    with threads.serving(server):
        try:
            yield stub
        finally:
            stub.over.set()
