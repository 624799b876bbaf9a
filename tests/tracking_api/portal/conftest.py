"""The portal beside the dashboard, on a server that sends e-mail: Anna is a partner of Acme, with an address."""

import re
from collections.abc import AsyncIterator
from datetime import datetime

import httpx
import pytest

from storage.access import portal
from storage.access.workspaces import Role
from storage.management import partners
from tests import smtp
from tests.smtp import Mailbox
from tests.tracking_api.dashboard.conftest import MAX, OLGA, Dashboard
from tests.world import NOW, World

ANNA = "anna@partners.example"
LINK = re.compile(r"http://\S+/portal/link#(\S+)")


class Portal(Dashboard):
    """Olga's dashboard, and browsers of partners."""

    mailbox: Mailbox

    def visitor(self, **cookies: str) -> httpx.AsyncClient:
        """Return a browser without a session."""
        browser = self.browser(None)
        for name, value in cookies.items():
            browser.cookies.set(name, value, domain="svc.test", path="/portal")
        return browser

    async def session(self, acme: World | None = None, partner_id: int | None = None) -> str:
        """Return the token of a session of Anna, or of another partner."""
        acme = acme or self.acme
        return await start_session(acme, partner_id or acme.anna, at=self.at)

    async def anna(self) -> httpx.AsyncClient:
        return self.visitor(svc_portal=await self.session())

    def mailed(self) -> str:
        """Return the token of the link in the last e-mail."""
        found = LINK.search(self.mailbox.text())
        assert found
        return found[1]


async def start_session(acme: World, partner_id: int, at: datetime = NOW) -> str:
    """Return the token of a session that a manager's link opened."""
    token, _ = await acme.do(portal.invite, partner_id, at=at)
    redeem = acme.store.write(portal.redeem, token, acme.program_id, browser="", client="A phone", at=at)
    return (await redeem).token


@pytest.fixture
async def served(acme: World) -> AsyncIterator[Portal]:
    """The portal, with Olga and Max signed in to the dashboard."""
    made = Portal(acme)
    await made.join(OLGA, Role.OWNER)
    await made.join(MAX, Role.MEMBER)
    await acme.do(partners.change, acme.anna, {"email": ANNA})
    with smtp.running() as made.mailbox:
        made.serve(made.mailbox.url)
        async with made.browser() as made.olga:
            yield made
