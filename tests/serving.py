"""The whole service in the test's process: in a thread, by real HTTP on a real socket, or in the loop of the test."""

import socket
import ssl
import threading
import urllib.request
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from typing import Any

import httpx
import uvicorn
from starlette.types import ASGIApp

import asgi
import configuration
from storage import Storage
from web.middleware import RequestMiddleware

SECRET_KEY = "a secret key"
PLAIN = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)  # for httpx over http: it would read the system's certificates, 30 ms


@dataclass
class Served:
    """A service that answers on a socket, and the database under it."""

    base_url: str
    database_url: str


Serve = Callable[..., Served]  # with a database and SVC_ variables


@contextmanager
def in_a_thread(
    database_url: str, *, around: Callable[[ASGIApp], ASGIApp] = RequestMiddleware, **environment: str
) -> Iterator[Served]:
    """Serve a database until the block ends, with these SVC_ variables and no others, and with `around` outside."""
    listening = socket.create_server(("127.0.0.1", 0))
    served = Served(f"http://127.0.0.1:{listening.getsockname()[1]}", database_url)
    settings = {"SVC_RATE_LIMIT": "off", "SVC_SECRET_KEY": SECRET_KEY, "SVC_BASE_URL": served.base_url, **environment}
    fields: Any = {name.removeprefix(configuration.PREFIX).lower(): value for name, value in settings.items()}
    fields["database_url"] = database_url
    app = around(asgi.Service(configuration.Configuration(**fields)))
    server = uvicorn.Server(
        uvicorn.Config(app, loop="uvloop", http="httptools", log_config=None, server_header=False, lifespan="on")
    )
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    try:
        with urllib.request.urlopen(f"{served.base_url}/readyz", timeout=20):
            yield served
    finally:
        server.should_exit = True
        thread.join()
        listening.close()


@asynccontextmanager
async def in_the_loop(
    url: str = "http://localhost", **settings: Any
) -> AsyncIterator[tuple[httpx.AsyncClient, Storage]]:
    """Serve with these settings until the block ends; give a client that reaches it at a URL, and its storage."""
    service = asgi.Service(configuration.Configuration(**settings))
    transport = httpx.ASGITransport(RequestMiddleware(service))
    async with service.opened() as store, httpx.AsyncClient(transport=transport, base_url=url) as client:
        yield client, store
