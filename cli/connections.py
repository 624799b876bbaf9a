"""HTTP connections with limits: the time and size of a request's head, and how many are open at once."""

import asyncio
import secrets
import socket
from contextlib import suppress
from functools import partial
from typing import Any

import uvicorn
from pydantic_core import to_json
from starlette.types import Receive, Scope, Send
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.supervisors.multiprocess import Process

import configuration
from storage.rules.errors import Overloaded, PayloadTooLarge
from web.errors import error_body
from web.middleware import RequestMiddleware
from web.response import error_response

HEAD_SECONDS = 10.0
MOST_HEAD_BYTES = 64 * 1024
MOST_CONNECTIONS = 4_000
LAST_SECONDS = 1.0  # for the first request of a connection when the server stops


class Connection(HttpToolsProtocol):
    """uvicorn's connection with limits on a request's head and on open connections: httptools has none of its own."""

    def __init__(
        self,
        *arguments: Any,
        head_seconds: float = HEAD_SECONDS,
        most_connections: int = MOST_CONNECTIONS,
        **options: Any,
    ) -> None:
        super().__init__(*arguments, **options)
        self._served_app = self.app
        self._head_seconds = head_seconds
        self._most_connections = most_connections
        self._head_timer: asyncio.TimerHandle | None = None
        self._is_rejected = False
        self._is_last = False  # the server stops after this request
        self._unread = 0  # bytes since the last head or piece of a body was complete

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as in uvicorn
        super().connection_made(transport)
        if len(self.connections) > self._most_connections * 2:  # too many to send a response to each
            transport.abort()
        self._wait_for_head()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Read on; while no request is being served, the next head has limited time."""
        if self._is_rejected:
            return
        self._unread += len(data)
        super().data_received(data)
        if self._unread > MOST_HEAD_BYTES and not (self._is_rejected or self.transport.is_closing()):
            self.send_400_response("")
        elif self._head_timer is None and (self.cycle is None or self.cycle.response_complete):
            self._wait_for_head()

    def on_headers_complete(self) -> None:
        """Serve the request, unless its head is too large or too many connections are open."""
        if self._unread > MOST_HEAD_BYTES:
            size = sum(len(name) + len(value) + 4 for name, value in self.headers)  # a colon, a blank, the line's end
            if len(self.url) + size > MOST_HEAD_BYTES:
                raise PayloadTooLarge
        hosts = [name for name, _ in self.headers].count(b"host")
        if hosts > 1 or (hosts == 0 and self.parser.get_http_version() == "1.1"):
            raise ValueError("Host")  # 400 (RFC 9112, 3.2)
        self._unread = 0
        self._stop_waiting()
        self.app = self._served_app if len(self.connections) <= self._most_connections else _OVERLOADED
        super().on_headers_complete()
        if self._is_last:
            self.cycle.keep_alive = False

    def shutdown(self) -> None:
        """Close the connection once it is idle; one that has not sent its first request yet still gets a response."""
        if self.cycle is not None:
            super().shutdown()
            return
        self._is_last = True
        self.loop.call_later(LAST_SECONDS, super().shutdown)

    def on_body(self, body: bytes) -> None:
        self._unread = 0
        super().on_body(body)

    def send_400_response(self, msg: str) -> None:
        """Respond to what cannot be parsed; 431 if it is too large."""
        if self._unread <= MOST_HEAD_BYTES:
            super().send_400_response(msg)
            return
        advice = "Send fewer or shorter headers and cookies."
        error = PayloadTooLarge("The headers are larger than 64 KiB.", hint=advice)
        body = to_json(error_body(error, secrets.token_hex(8)))
        head = "HTTP/1.1 431 Request Header Fields Too Large\r\ncontent-type: application/json\r\nconnection: close\r\n"
        self.transport.write(f"{head}content-length: {len(body)}\r\n\r\n".encode() + body)
        self.transport.write_eof()
        self._is_rejected = True
        self.loop.call_later(self._head_seconds, self.transport.close)  # at once, a client that still sends loses it

    def _wait_for_head(self) -> None:
        self._head_timer = self.loop.call_later(self._head_seconds, self.transport.close)

    def _stop_waiting(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None


async def _overloaded(scope: Scope, receive: Receive, send: Send) -> None:
    response = error_response(Overloaded(retry_after_seconds=1), scope)
    response.headers = {**response.headers, "Connection": "close"}
    await response(scope, receive, send)


_OVERLOADED: Any = RequestMiddleware(_overloaded)


class Server(uvicorn.Server):
    """uvicorn's server; before it stops it says that it is not ready, and accepts the connections that are open."""

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Serve on for SVC_DRAIN_SECONDS, accept what waits, and stop listening at once: no new connection is reset."""
        loop = asyncio.get_running_loop()
        self.lifespan.state["is_stopping"] = True
        until = loop.time() + configuration.load().drain_seconds
        while loop.time() < until and not self.force_exit:  # noqa: ASYNC110 - a flag that a signal sets
            await asyncio.sleep(0.1)
        opened = list[socket.socket]()
        for listening in sockets or []:
            listening.setblocking(False)
            with suppress(BlockingIOError):
                while True:
                    opened.append(listening.accept()[0])
        for server in self.servers:
            server.close()
        state = {"config": self.config, "server_state": self.server_state, "app_state": self.lifespan.state}
        connection: Any = partial(self.config.http_protocol_class, **state)
        for each in opened:
            await loop.connect_accepted_socket(connection, each)
        await super().shutdown(sockets)


class Worker(Process):
    @property
    def server(self) -> uvicorn.Server:
        self._server = self._server or Server(self.config)
        return self._server
