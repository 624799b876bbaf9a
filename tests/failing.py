"""A service on a socket that fails as a test says, or passes calls on to the real one, for shops and SDKs."""

import json
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socketserver import BaseServer
from threading import Condition, Event, Thread
from typing import Any, NamedTuple, TypeVar
from urllib.parse import parse_qsl

from storage.rules.errors import BY_CODE
from web.errors import STATUS, error_body

HANGS, DRIPS, CUTS, PASSES_ON = "hangs", "drips", "cuts", "passes on"
AS_NAMED = "as the customer or the transaction is named"
NOT_THE_SERVICE = {"html": b"<h1>Bad gateway", "empty": b"", "list": b"[]", "null": b"null"}
BROKEN = (CUTS, *NOT_THE_SERVICE)
ERRORS = ("internal_error", "invalid_key", "customer_not_found")  # logged as temporary, as wrong, and not at all
CORS = ("access-control-request-method", "access-control-request-headers")
PASSED_ON = ("content-type", "authorization", "origin", "user-agent", *CORS)
OWN = ("content-length", "connection", "transfer-encoding")
Server = TypeVar("Server", bound=BaseServer)
PATIENCE_SECONDS = 120  # for calls that a shop sends after its response


class HttpServer(ThreadingHTTPServer):
    """Serves HTTP to several clients at once, each in a thread that ends with the process."""

    request_queue_size = 128  # with the usual 5, a connection of a busy machine is tried again after the client gave up


@contextmanager
def serving(server: Server) -> Iterator[Server]:
    """Serve until the block ends, and close the socket then."""
    with server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


class Call(NamedTuple):
    """A request as it arrived; its headers' names are in lower case."""

    path: str
    body: dict[str, Any]
    headers: dict[str, str]

    @property
    def name(self) -> str:
        return self.path.partition("?")[0].rpartition("/")[2]

    @property
    def fault(self) -> str:
        """How the call fails where its customer or transaction says that."""
        return str(self.body.get("customer_key") or self.body["transaction_id"]).removeprefix("inv-")


class Answer(NamedTuple):
    """A response that the service gives."""

    status: int = 200
    content: bytes = b'{"success": true, "message": "Lead recorded."}'
    headers: dict[str, str] = {}  # noqa: RUF012 - it never changes


def answer(fault: str, **details: Any) -> Answer:
    """Return the response for something that is not the service, or the service's own for an error's code."""
    if fault in NOT_THE_SERVICE:
        return Answer(502 if fault == "html" else 200, NOT_THE_SERVICE[fault])
    return Answer(STATUS[fault], json.dumps(error_body(BY_CODE[fault](**details), "0" * 24)).encode())


class FailingService(HttpServer):
    """Gives `answers` in turn, the last one again and again: an Answer, or a fault by its name.

    `received` are the calls that were answered, or will never be. They are passed on to `target`.
    """

    def __init__(self, target: str = "") -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.target = target
        self.answers: list[Answer | str] = [PASSES_ON if target else Answer()]
        self.received: list[Call] = []
        self.over = Event()
        self._news = Condition()

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def bodies(self, name: str) -> list[dict[str, Any]]:
        return [call.body for call in list(self.received) if call.name == name]

    def wait_for(self, name: str, number: int) -> list[dict[str, Any]]:
        """Wait until so many calls of a kind were received, and return their bodies."""
        self.wait_until(lambda: len(self.bodies(name)) >= number)
        return self.bodies(name)

    def wait_until(self, is_reached: Callable[[], bool]) -> None:
        """Wait for something that the calls show: a shop may send them after its response."""
        with self._news:
            assert self._news.wait_for(is_reached, PATIENCE_SECONDS), self.received

    def stop(self) -> None:
        """Stop: from now on nothing listens."""
        self.over.set()
        self.shutdown()
        self.server_close()

    def next_answer(self, call: Call) -> Answer | str:
        given = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        fault = call.fault if given == AS_NAMED else given
        is_named = isinstance(fault, Answer) or fault in {HANGS, DRIPS, CUTS, PASSES_ON}
        return fault if is_named else answer(str(fault))

    def note(self, call: Call) -> None:
        with self._news:
            self.received.append(call)
            self._news.notify_all()


class QuietHandler(BaseHTTPRequestHandler):
    """Sends whole responses and logs nothing."""

    def send(self, given: Answer) -> None:
        self.send_response(given.status)
        for name, value in ({"Content-Length": str(len(given.content))} | given.headers).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(given.content)

    def log_message(self, *_: Any) -> None:
        """Keep quiet."""


class _Handler(QuietHandler):
    server: FailingService

    def do_POST(self) -> None:
        content = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        headers = {name.lower(): value for name, value in self.headers.items()}
        call = Call(self.path, _read(content, headers.get("content-type", "")), headers)
        given = self.server.next_answer(call)
        if given == PASSES_ON:
            given = self._passed_on(content, headers)
        self.server.note(call)
        if isinstance(given, Answer):
            self.send(given)
        elif given == HANGS:
            self.server.over.wait()
        elif given == DRIPS:
            self._drip()

    do_GET = do_OPTIONS = do_POST  # noqa: N815 - the names of the base class

    def _passed_on(self, content: bytes, headers: dict[str, str]) -> Answer:
        sent = {name: headers[name] for name in PASSED_ON if name in headers}
        request = urllib.request.Request(self.server.target + self.path, content or None, sent, method=self.command)
        try:
            response = urllib.request.urlopen(request)
        except urllib.error.HTTPError as rejection:
            response = rejection
        with response:
            kept = {name: value for name, value in response.headers.items() if name.lower() not in OWN}
            return Answer(response.status, response.read(), kept)

    def _drip(self) -> None:
        self.send_response(200)
        self.send_header("Content-Length", "1000")
        self.end_headers()
        while not self.server.over.wait(0.1):
            try:
                self.wfile.write(b" ")
            except OSError:
                return


def _read(content: bytes, kind: str) -> dict[str, Any]:
    """Return a body of JSON, or the fields of a form."""
    if kind.startswith("application/x-www-form-urlencoded"):
        return dict(parse_qsl(content.decode(), keep_blank_values=True))
    body: dict[str, Any] = json.loads(content or b"{}")
    return body


@contextmanager
def running(target: str = "") -> Iterator[FailingService]:
    """Run a service until the block ends, before the one at a URL where one is given."""
    with serving(FailingService(target)) as service:
        try:
            yield service
        finally:
            service.over.set()
