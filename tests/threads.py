"""A socket server of a test's own, in a thread."""

from collections.abc import Iterator
from contextlib import contextmanager
from http.server import ThreadingHTTPServer
from socketserver import BaseServer
from threading import Thread
from typing import TypeVar

Server = TypeVar("Server", bound=BaseServer)


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
