"""The real app behind a shim that adds an agent key: the conformance suite sends none. Run it with uvicorn."""

import os

from starlette.types import ASGIApp, Receive, Scope, Send

import asgi


class Keyed:
    """ASGI: adds `Authorization` to a request that has none."""

    def __init__(self, inside: ASGIApp, key: str) -> None:
        self._inside = inside
        self._header = (b"authorization", f"Bearer {key}".encode())

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and self._header[0] not in dict(scope["headers"]):
            scope["headers"] = [*scope["headers"], self._header]
        await self._inside(scope, receive, send)


app = Keyed(asgi.app, os.environ["SVC_TEST_KEY"])
