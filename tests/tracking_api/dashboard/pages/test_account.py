"""The account's pages in a browser: nothing that axe-core finds, the reset link's page included."""

from datetime import UTC, datetime

from storage.access import accounts
from storage.engine.audit import OPERATOR
from tests.tracking_api.dashboard.pages.conftest import OLGA, Site
from tests.tracking_api.dashboard.pages.test_every_page import DESK, PHONE, violations


async def test_axe_finds_nothing_on_the_account_page_and_behind_a_reset_link(site: Site, axe: str) -> None:
    owner = await site.acme.store.read(accounts.find_id, OLGA)
    link = await site.acme.store.write(accounts.create_reset_link, owner, actor=OPERATOR, at=datetime.now(UTC))

    found = []
    for scheme, size in (("light", DESK), ("dark", PHONE)):
        page = await site.sign_in(color_scheme=scheme, viewport=size, bypass_csp=True)
        for path in ("/account", f"/reset-password/{link.token}"):
            found += await violations(page, axe, path)

    assert not found, "\n".join(found)
