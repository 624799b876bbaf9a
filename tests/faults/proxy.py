"""A TCP proxy between the service and PostgreSQL that cuts or swallows the answer to a COMMIT."""

import asyncio
from contextlib import suppress
from enum import Enum
from typing import Self

ASKS_TO_COMMIT = b"COMMIT"
HAS_COMMITTED = b"COMMIT\x00"  # of the server's CommandComplete
CHUNK = 65_536


class Cut(Enum):
    """What happens to the next COMMIT, and to its connection."""

    BEFORE = "the server never sees it"
    AFTER = "the server has committed; the answer is cut off"
    SILENT = "the server has committed; the answer never comes, and the connection stays open"


class Proxy:
    """Passes bytes on until a cut is armed."""

    def __init__(self, port_behind: int) -> None:
        self.port = 0
        self._port_behind = port_behind
        self._armed: Cut | None = None
        self._done = asyncio.Event()
        self._links: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        for link in self._links:
            link.cancel()
        if self._links:
            await asyncio.wait(self._links)

    async def cut(self, how: Cut) -> None:
        """Cut the next COMMIT, and return when that has happened."""
        self._done.clear()
        self._armed = how
        async with asyncio.timeout(60):
            await self._done.wait()

    async def _accept(self, client: asyncio.StreamReader, to_client: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._links.add(task)
        task.add_done_callback(self._links.discard)
        to_server: asyncio.StreamWriter | None = None
        try:
            server, to_server = await asyncio.open_connection("127.0.0.1", self._port_behind)
            await self._link(client, to_client, server, to_server)
        except (OSError, asyncio.CancelledError):
            pass
        finally:
            for writer in (to_client, to_server):
                if writer is not None:
                    writer.transport.abort()

    async def _link(
        self,
        client: asyncio.StreamReader,
        to_client: asyncio.StreamWriter,
        server: asyncio.StreamReader,
        to_server: asyncio.StreamWriter,
    ) -> None:
        """Pass bytes both ways until either side ends or a cut falls."""
        fate: list[Cut] = []
        ways = [
            asyncio.create_task(self._requests(client, to_server, fate)),
            asyncio.create_task(self._answers(server, to_client, fate)),
        ]
        try:
            await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
            if fate == [Cut.SILENT]:
                await asyncio.Event().wait()
        finally:
            for way in ways:
                way.cancel()
            await asyncio.wait(ways)

    async def _requests(self, client: asyncio.StreamReader, to_server: asyncio.StreamWriter, fate: list[Cut]) -> None:
        with suppress(OSError):
            while chunk := await client.read(CHUNK):
                if self._armed is not None and ASKS_TO_COMMIT in chunk:
                    fate.append(self._armed)
                    self._armed = None
                    if fate == [Cut.BEFORE]:
                        self._done.set()
                        return
                to_server.write(chunk)
                await to_server.drain()

    async def _answers(self, server: asyncio.StreamReader, to_client: asyncio.StreamWriter, fate: list[Cut]) -> None:
        with suppress(OSError):
            while chunk := await server.read(CHUNK):
                if fate and HAS_COMMITTED in chunk:
                    self._done.set()
                    return
                to_client.write(chunk)
                await to_client.drain()
