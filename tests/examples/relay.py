"""What stands between a shop and the service: it passes calls on, keeps what it saw, and fails when a test says so."""

import json
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from threading import Event
from typing import Any

from tests import threads
from web.errors import STATUS

DOWN, HANGS = "down", "hangs"
CORS = ("access-control-request-method", "access-control-request-headers")
PASSED_ON = ("content-type", "authorization", "origin", "user-agent", *CORS)
OWN = ("content-length", "connection", "transfer-encoding")


class Relay(threads.HttpServer):
    """`fault` is how every call fails: DOWN, HANGS or an error's code; none passes it on. `seen` are all calls.

    With a `key`, calls with a key are passed on with this one.
    """

    def __init__(self, target: str) -> None:
        super().__init__(("127.0.0.1", 0), _Relayed)
        self.target = target
        self.fault = ""
        self.key = ""
        self.seen: list[tuple[str, dict[str, str], Any]] = []
        self.over = Event()

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def calls(self, name: str) -> list[Any]:
        """Return the bodies of the calls of a kind."""
        return [body for path, _, body in list(self.seen) if path.partition("?")[0].endswith(f"/track/{name}")]

    def wait_for(self, name: str, number: int) -> list[Any]:
        """Wait until so many calls of a kind are done: a shop may send them after its response."""
        for _ in range(500):
            if len(self.calls(name)) >= number:
                return self.calls(name)
            Event().wait(0.02)
        raise AssertionError(self.seen)


class _Relayed(BaseHTTPRequestHandler):
    server: Relay

    def do_GET(self) -> None:
        """Pass a request on, or fail."""
        content = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        headers = {name.lower(): value for name, value in self.headers.items()}
        fault = self.server.fault
        answer = None if fault else self._passed_on(content, headers)
        self.server.seen.append((self.path, headers, json.loads(content or "null")))
        if fault == HANGS:
            self.server.over.wait()
        elif fault and fault != DOWN:
            self._answer(STATUS[fault], {}, json.dumps({"error": {"code": fault, "message": "No."}}).encode())
        elif answer:
            self._answer(*answer)

    do_POST = do_OPTIONS = do_GET  # noqa: N815 - the names of the base class

    def _passed_on(self, content: bytes, headers: dict[str, str]) -> tuple[int, dict[str, str], bytes]:
        sent = {name: headers[name] for name in PASSED_ON if name in headers}
        if self.server.key and "authorization" in sent:
            sent["authorization"] = f"Bearer {self.server.key}"
        request = urllib.request.Request(self.server.target + self.path, content or None, sent, method=self.command)
        try:
            response = urllib.request.urlopen(request, timeout=20)
        except urllib.error.HTTPError as rejection:
            response = rejection
        with response:
            return response.status, dict(response.headers), response.read()

    def _answer(self, status: int, headers: dict[str, str], content: bytes) -> None:
        self.send_response(status)
        kept = {name: value for name, value in headers.items() if name.lower() not in OWN}
        for name, value in (kept | {"Content-Length": str(len(content))}).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: Any) -> None:
        """Keep quiet."""


@contextmanager
def before(target: str) -> Iterator[Relay]:
    """Run a relay before the service at a URL."""
    with threads.serving(Relay(target)) as relay:
        try:
            yield relay
        finally:
            relay.over.set()
