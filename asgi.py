"""The composition root: it opens storage and mounts the apps over it. Only this module imports every app."""

import logging
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager

from starlette.types import ASGIApp, Receive, Scope, Send

import agent_api.app
import background
import configuration
import mcp_server.app
import storage
import tracking_api.app
from storage.engine import database
from web import metrics
from web.app import settle_garbage
from web.counts import Counts
from web.limits import REJECTED, RateLimits
from web.middleware import RequestMiddleware, traced

log = logging.getLogger(__name__)


class Service:
    """The ASGI app: one lifespan that opens storage, then each request goes to the app with the prefix of its path."""

    def __init__(self, config: configuration.Configuration | None = None) -> None:
        self._config = config  # None: read from the environment when the lifespan starts
        self._is_https = False
        self._mounts: list[tuple[str, ASGIApp]] = []  # path prefix and app, the first that fits

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._live(receive, send)
        elif scope["type"] == "http":
            if self._is_https:
                scope["scheme"] = "https"  # also behind a proxy that does not say so
            path = scope["path"]
            for prefix, app in self._mounts:
                if path.startswith(prefix):
                    await app(scope, receive, send)
                    break

    async def _live(self, receive: Receive, send: Send) -> None:
        await receive()
        try:
            async with self.opened():
                await send({"type": "lifespan.startup.complete"})
                await receive()
        except Exception as error:
            await send({"type": "lifespan.startup.failed", "message": str(error)})
            raise
        await send({"type": "lifespan.shutdown.complete"})

    @asynccontextmanager
    async def opened(self) -> AsyncIterator[storage.Storage]:
        """Open storage, mount the apps and start housekeeping. Closing drains every accepted write."""
        config = self._config or configuration.load()
        self._is_https = config.base_url.startswith("https://")
        async with (
            storage.opened(config.database_url, replica_url=config.read_database_url) as store,
            aclosing(Counts(config.redis_url)) as counts,
            mcp_server.app.serving(store.reader, config, counts=counts) as mcp,
        ):
            url = database.parse_url(config.database_url)
            folder = database.file_of(url).parent if database.is_sqlite(url) else None
            base_url = config.base_url
            registry = metrics.registry(store, folder)
            limits = RateLimits({REJECTED: config.limited(config.rejected_rate)}, counts)
            endpoint = metrics.endpoint(registry, config.metrics_token) if config.metrics_token else None
            agents = agent_api.app.create(store, sealer=config.sealer, base_url=base_url, limits=limits)
            self._mounts = [
                *([(metrics.PATH, endpoint)] if endpoint else []),
                ("/api/agent/", agents),
                ("/mcp", mcp),
                ("", tracking_api.app.create(store, config, counts=counts, others=agent_api.app.ROUTES)),
            ]
            settle_garbage()
            tasks = [*(run(store) for run in background.TASKS), background.mail_partners(store, config)]
            async with background.beside(*tasks, background.run_plans(store, agents)):
                with metrics.served(registry, host=config.metrics_host, port=config.metrics_port):
                    yield store


app = traced(RequestMiddleware(Service()))
