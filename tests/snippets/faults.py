"""A service that fails as the customer's key says: it hangs, drips, ends the connection, or answers any error."""

import json
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from threading import Event, Thread
from typing import Any

from tests.documented import DOCUMENT, codes
from tests.threads import HttpServer
from web.errors import STATUS

SLOW = ("hangs", "drips")
BROKEN = ("cut", "html", "empty", "list", "null")
CALLS = [path for path in DOCUMENT["paths"] if path.startswith(("/api/v1/track/", "/api/v1/cli/status"))]
ERRORS = sorted({code for path in CALLS for each in DOCUMENT["paths"][path].values() for code in codes(each)})


@dataclass
class FailingService:
    """A service on a socket; `sent` are the calls that arrived, `down` closes the socket."""

    server: HttpServer
    over: Event = field(default_factory=Event)
    sent: list[tuple[str, dict[str, Any]]] = field(default_factory=list)

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.server.server_port}"

    def wait_for(self, calls: Counter[tuple[str, str]]) -> None:
        """Wait until these calls, named by their fault, have arrived, and no others; some shops send them late."""
        for _ in range(500):
            if calls <= self._arrived():
                break
            Event().wait(0.02)
        arrived = self._arrived()
        assert arrived == calls, f"missing: {calls - arrived}, not expected: {arrived - calls}"

    def _arrived(self) -> Counter[tuple[str, str]]:
        return Counter((call, fault_of(body)) for call, body in list(self.sent))

    def down(self) -> None:
        """Stop: from now on nothing listens."""
        self.over.set()
        self.server.shutdown()
        self.server.server_close()


def fault_of(body: dict[str, Any]) -> str:
    """Return how a call fails."""
    return str(body.get("customer_key") or body["transaction_id"]).removeprefix("inv-")


def failure(fault: str) -> tuple[int, bytes]:
    """Return the status and the body of an error, or of something broken."""
    error = {"code": fault, "message": "It failed.", "hint": "Fix it.", "same_payload": False}
    bodies = {"html": "<h1>Bad gateway", "empty": "", "list": "[]", "null": "null"}
    content = bodies.get(fault, json.dumps({"error": error, "request_id": "r"})).encode()
    return (502 if fault == "html" else STATUS.get(fault, 200)), content


class _Server(HttpServer):
    service: FailingService


class _Handler(BaseHTTPRequestHandler):
    server: _Server

    def do_POST(self) -> None:
        """Fail as the body says, or the path's first part."""
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"] or 0)) or "{}")
        first = self.path.split("/")[1]
        fault = fault_of(body) if first == "api" else first
        self.server.service.sent.append((self.path.rpartition("/")[2], body))
        if fault == "hangs":
            self.server.service.over.wait()
        elif fault == "drips":
            self._drip()
        elif fault != "cut":
            self._answer(fault)

    do_GET = do_POST  # noqa: N815 - the name of the base class

    def _drip(self) -> None:
        self.send_response(200)
        self.send_header("Content-Length", "1000")
        self.end_headers()
        while not self.server.service.over.wait(0.2):
            try:
                self.wfile.write(b" ")
            except OSError:
                return

    def _answer(self, fault: str) -> None:
        status, content = failure(fault)
        self.send_response(status)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: Any) -> None:
        """Keep quiet."""


@contextmanager
def failing() -> Iterator[FailingService]:
    """Run a service that fails; it is down after the block, or as soon as the test says so."""
    server = _Server(("127.0.0.1", 0), _Handler)
    service = server.service = FailingService(server)
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield service
    finally:
        if not service.over.is_set():
            service.down()
        thread.join()
