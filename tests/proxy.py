"""A TCP proxy before PostgreSQL that loses what a test wants lost: a COMMIT, its answer, or everything."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from sqlalchemy.engine import make_url

COMMIT = b"COMMIT\x00"


class Proxy:
    """What passes: everything, until a test says otherwise."""

    def __init__(self, url: str) -> None:
        self._behind = make_url(url)
        self.url = url
        self.lose_commits = 0  # that many COMMITs never reach the server
        self.lose_answers = 0  # that many reach it, but their answers get lost
        self.delay_commit = False  # the next one reaches the server after its client was cut off, when `deliver` is set
        self.deliver = asyncio.Event()
        self.lose_connections = False  # new ones end before they reach the server
        self.connections = 0  # that were tried
        self.delay_seconds = 0.0  # of each packet, in either direction
        self.flowing = asyncio.Event()  # cleared: connections stay open, and nothing passes
        self.flowing.set()
        self._writers: set[asyncio.StreamWriter] = set()

    async def connect(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        if self.lose_connections:
            writer.close()
            return
        server_reader, server_writer = await asyncio.open_connection(self._behind.host, self._behind.port)
        self._writers |= {writer, server_writer}
        with suppress(OSError, asyncio.CancelledError):
            await asyncio.gather(
                self._requests(reader, server_writer, writer), self._answers(server_reader, writer, server_writer)
            )
        self._writers -= {writer, server_writer}
        for each in (writer, server_writer):
            each.close()

    async def _requests(
        self, reader: asyncio.StreamReader, server: asyncio.StreamWriter, client: asyncio.StreamWriter
    ) -> None:
        while data := await reader.read(65_536):
            await self._pass()
            if COMMIT in data and self.lose_commits:
                self.lose_commits -= 1
                break
            if COMMIT in data and self.delay_commit:
                self.delay_commit = False
                client.close()
                await self.deliver.wait()
            server.write(data)
        client.close()
        server.close()

    async def _answers(
        self, reader: asyncio.StreamReader, client: asyncio.StreamWriter, server: asyncio.StreamWriter
    ) -> None:
        while data := await reader.read(65_536):
            await self._pass()
            if COMMIT in data and self.lose_answers:
                self.lose_answers -= 1
                break
            if not client.is_closing():
                client.write(data)
        client.close()
        server.close()

    async def _pass(self) -> None:
        """Wait as long as a packet is to take."""
        with suppress(TimeoutError):
            if self.delay_seconds:
                await asyncio.wait_for(asyncio.Event().wait(), self.delay_seconds)
        await self.flowing.wait()

    def cut(self) -> None:
        for writer in self._writers:
            writer.close()


@asynccontextmanager
async def before(url: str) -> AsyncIterator[Proxy]:
    """Give a proxy before the server of a database; `proxy.url` leads through it."""
    proxy = Proxy(url)
    server = await asyncio.start_server(proxy.connect, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    proxy.url = make_url(url).set(host="127.0.0.1", port=port).render_as_string(hide_password=False)
    try:
        yield proxy
    finally:
        server.close()
        proxy.deliver.set()
        proxy.flowing.set()
        proxy.delay_seconds = 0
        proxy.cut()
        await server.wait_closed()
