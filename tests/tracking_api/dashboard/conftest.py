"""The dashboard over a fresh SQLite database: Olga owns Acme, Max is a member; every answer must be documented."""

from collections.abc import AsyncIterator, Iterator
from typing import Any

import httpx
import pytest

import tracking_api.app
from configuration import Configuration
from storage.access.workspaces import Role
from tests import documented, smtp, world
from tests.tables import table

OLGA, MAX = "olga@acme.example", "max@acme.example"
PASSWORD = "correct horse"
HASH = world.password_hash(PASSWORD)
OURS = {"Origin": "http://svc.test", "Sec-Fetch-Site": "same-origin"}
FOREIGN = {"Sec-Fetch-Site": "cross-site"}
CONTRACT = table("tracking_api/dashboard/contract.json")  # what its objects have at first, or do not take


class Dashboard:
    """A client of the dashboard API, and Olga's browser; `at` is the service's time."""

    olga: httpx.AsyncClient

    def __init__(self, acme: world.World) -> None:
        self.acme = acme
        self.at = world.NOW
        self.tokens: dict[str, str] = {}
        self.serve()
        self.transport = documented.transport_to(self._handle)
        self.client = documented.client(self.transport)

    def serve(self, smtp_url: str | None = None) -> None:
        """Serve from now on with this SMTP server, or without any, to browsers that are open, too."""
        mail: dict[str, Any] = {"smtp_url": smtp_url, "mail_from": "Acme <acme@acme.example>"}
        self.settings = Configuration(secret_key="a secret key", base_url="http://svc.test", **mail)
        self.app = tracking_api.app.create(self.acme.store, self.settings, clock=lambda: self.at)

    async def _handle(self, *request: Any) -> None:
        await self.app(*request)

    @property
    def program(self) -> str:
        return f"/api/programs/{self.acme.program_id}"

    @property
    def pages(self) -> str:
        return f"/programs/{self.acme.program_id}"

    def browser(self, who: str | None = OLGA, **headers: str) -> httpx.AsyncClient:
        """Return a browser that holds somebody's cookie and sends what our own pages send, unless headers are given."""
        cookies = {"svc_session": self.tokens.get(who, who)} if who is not None else {}
        about: dict[str, Any] = {"cookies": cookies, "headers": headers or OURS}
        return httpx.AsyncClient(transport=self.transport, base_url="http://svc.test", **about)

    async def join(self, email: str, role: Role) -> int:
        """Add a member to Acme's workspace and sign them in."""
        user_id = await self.acme.join(email, role, password_hash=HASH)
        self.tokens[email] = await self.acme.sign_in(user_id, self.at)
        return user_id

    async def call(self, method: str, path: str, who: str | None = OLGA, **options: Any) -> httpx.Response:
        """Call a path (one that starts with a dot lies under the program) with or without a session."""
        headers = dict(options.pop("headers", {}))
        if who is not None:
            headers["Authorization"] = f"Bearer {self.tokens.get(who, who)}"
        where = path.replace(".", self.program, 1) if path.startswith(".") else path
        return await self.client.request(method, where, headers=headers, **options)

    async def get(self, path: str, who: str | None = OLGA, **query: Any) -> httpx.Response:
        return await self.call("GET", path, who, params=query)

    async def post(self, path: str, who: str | None = OLGA, **body: Any) -> httpx.Response:
        return await self.call("POST", path, who, json=body)

    async def patch(self, path: str, who: str | None = OLGA, **body: Any) -> httpx.Response:
        return await self.call("PATCH", path, who, json=body)

    async def performance(self, who: str | None = OLGA, **query: Any) -> httpx.Response:
        return await self.get(f"/api/tracking/performance/{self.acme.program_id}", who, **query)

    async def login(self, email: str = OLGA, password: str = PASSWORD) -> httpx.Response:
        return await self.post("/api/auth/login", None, email=email, password=password)


@pytest.fixture
async def dashboard(acme: world.World) -> AsyncIterator[Dashboard]:
    """The dashboard, with Olga and Max signed in."""
    made = Dashboard(acme)
    await made.join(OLGA, Role.OWNER)
    await made.join(MAX, Role.MEMBER)
    async with made.client, made.browser() as made.olga:
        yield made


@pytest.fixture
def mailbox(dashboard: Dashboard) -> Iterator[smtp.Mailbox]:
    """What the dashboard sends by e-mail."""
    with smtp.running() as received:
        dashboard.serve(received.url)
        yield received


@pytest.fixture
def olga(dashboard: Dashboard) -> httpx.AsyncClient:
    return dashboard.olga
