"""The integrator's half of `svc` as real processes, in a home and a project of their own, against a live server."""

import asyncio
import json
import os
import signal
import subprocess
from collections.abc import AsyncIterator, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

import storage
from storage.access import accounts
from storage.access.workspaces import Role
from tests import failing, serving, stripe_events, world
from tests.browser.shop import Shop as WebShop
from tests.cli.conftest import CHECKOUT, command
from tests.forked import Done, run
from tests.storage.payments import paying
from tests.tables import table

OLGA, MAX, PASSWORD = "olga@acme.example", "max@acme.example", "correct horse battery"
HASH = world.password_hash(PASSWORD)
SHOPS: dict[str, Any] = table("cli/integrator/shops.toml")


class Shop:
    """A shop's project with `svc` at hand; `acme` is its program, served at `server`."""

    def __init__(self, folder: Path, acme: world.World, server: serving.Served) -> None:
        self.acme = acme
        self.server = server
        self.home, self.project = folder / "home", folder / "project"
        self.home.mkdir()
        self.project.mkdir()

    @property
    def login(self) -> Path:
        return self.home / "config" / "svc" / "login.json"

    def read(self, name: str) -> str:
        return (self.project / name).read_text(encoding="utf-8")

    def environment(self, **more: str) -> dict[str, str]:
        """Return what `svc` runs with: nothing of this machine's own settings."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("SVC_", "SERVICE_"))}
        ours = {"HOME": str(self.home), "XDG_CONFIG_HOME": str(self.home / "config"), "PYTHONPATH": str(CHECKOUT)}
        return kept | ours | {"SERVICE_BASE_URL": self.server.base_url} | more

    async def svc(self, *arguments: object, stdin: str = "", **settings: str) -> Done:
        return await asyncio.to_thread(run, arguments, cwd=self.project, env=self.environment(**settings), stdin=stdin)

    def start(self, *arguments: object, stderr: int | None = None) -> subprocess.Popen[str]:
        where, environment = self.project, self.environment()
        before = signal.signal(signal.SIGINT, signal.SIG_DFL)  # in the background a shell ignores Ctrl-C, inherited
        try:
            return subprocess.Popen(
                command(arguments), cwd=where, env=environment, stdout=subprocess.PIPE, stderr=stderr, text=True
            )
        finally:
            signal.signal(signal.SIGINT, before)

    async def sign_in(self, email: str = OLGA) -> None:
        """Log the command line in, as if the approval had been given."""
        token = await self.acme.sign_in(await self.acme.store.read(accounts.find_id, email), datetime.now(UTC))
        kept = {"base_url": self.server.base_url, "token": token, "email": email, "expires_at": "2999-01-01"}
        self.login.parent.mkdir(parents=True, exist_ok=True)
        self.login.write_text(json.dumps(kept))


async def connect(shop: Shop) -> None:
    """Connect an account as the server can read it."""
    await paying.connect(shop.acme, secret=stripe_events.SECRET, key=serving.SECRET_KEY)


@pytest.fixture
async def shop(sqlite_url: str, serve: serving.Serve, tmp_path: Path) -> AsyncIterator[Shop]:
    """Acme, served, with Olga who owns it and Max who is a member; no account is logged in."""
    async with storage.opened(sqlite_url) as store:
        acme = await world.acme(store)
        for email, role in ((OLGA, Role.OWNER), (MAX, Role.MEMBER)):
            await acme.join(email, role, password_hash=HASH, at=datetime.now(UTC))
        yield Shop(tmp_path, acme, serve(sqlite_url))


@pytest.fixture
def web() -> Iterator[WebShop]:
    with failing.serving(WebShop()) as opened:
        yield opened
