"""The tracking app over a fresh SQLite database, with a clock that the test sets; every answer must be documented."""

import copy
from collections.abc import AsyncIterator, Sequence
from datetime import datetime
from typing import Any

import httpx
import pytest
from sqlalchemy import Table, func, select

import tracking_api.app
from configuration import Configuration
from storage.access import program_keys
from tests import documented
from tests.tables import table
from tests.world import LANDING_PAGE, NOW, World

CALLS: dict[str, Any] = table("tracking_api/calls.json")
UNLIMITED = Configuration(rate_limit=False, body_seconds=0.05)


class Api:
    """A client of the tracking calls for Acme's program; `at` is the service's time."""

    def __init__(self, acme: World, settings: Configuration) -> None:
        self.acme = acme
        self.at = NOW
        app = tracking_api.app.create(acme.store, settings, clock=lambda: self.at)
        self.transport = documented.transport_to(app)
        self.client = documented.client(self.transport)

    def come_from(self, address: str) -> None:
        self.transport.client = (address, 50_000)

    @property
    def keyed(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.acme.key}"}

    async def post(self, call: str, fields: Any = None, *, key: str | None = "acme", **options: Any) -> httpx.Response:
        """Call `/api/v1/track/<call>` with Acme's key, another one, or none."""
        headers = dict(options.pop("headers", {}))
        if key is not None:
            headers["Authorization"] = f"Bearer {self.acme.key if key == 'acme' else key}"
        if "content" not in options:
            options["json"] = fields
        return await self.client.post(f"/api/v1/track/{call}", headers=headers, **options)

    async def click(self, **fields: Any) -> httpx.Response:
        headers = fields.pop("headers", {"User-Agent": "Mozilla/5.0 (X11; Linux x86_64) Firefox/140.0"})
        body = {"program_id": self.acme.program_id, "affiliate_url": LANDING_PAGE, **fields}
        return await self.post("click", body, key=None, headers=headers)

    async def lead(self, *, key: str | None = "acme", **fields: Any) -> httpx.Response:
        return await self.post("lead", fields, key=key)

    async def sale(self, *, key: str | None = "acme", **fields: Any) -> httpx.Response:
        """Send a sale of 100 dollars by user-1 by default."""
        defaults = {"transaction_id": "inv-1", "customer_key": "user-1", "amount_cents": 10_000}
        return await self.post("sale", {**defaults, **fields}, key=key)

    async def refund(self, *, key: str | None = "acme", **fields: Any) -> httpx.Response:
        return await self.post("refund", {"transaction_id": "inv-1", **fields}, key=key)

    async def status(self) -> Any:
        return (await self.client.get("/api/v1/cli/status", headers=self.keyed)).json()["data"]

    async def beside(self, **settings: Any) -> "Api":
        """Return these calls for a further program, with settings of its own."""
        other = copy.copy(self)
        other.acme = await self.acme.beside(**settings)
        return other

    async def flag(self, rotate_by: datetime) -> None:
        await self.acme.do(program_keys.flag, rotate_by=rotate_by)

    async def rows(self, table: Table) -> Sequence[Any]:
        return await self.acme.store.read(lambda connection: connection.execute(select(table)).all())

    async def count(self, *tables: Table) -> int:
        counts = [select(func.count()).select_from(table) for table in tables]
        return await self.acme.store.read(lambda reader: sum(reader.execute(count).scalar_one() for count in counts))


@pytest.fixture
async def api(acme: World, request: pytest.FixtureRequest) -> AsyncIterator[Api]:
    """The tracking calls, without rate limits or with a test's settings."""
    made = Api(acme, getattr(request, "param", UNLIMITED))
    async with made.client:
        yield made
