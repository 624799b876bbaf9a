"""The page of the program key: it lists who uses the key, and who still uses the one before."""

import httpx

import background
from storage.access import program_keys, sessions
from tests.tracking_api.conftest import Api
from tests.world import NOW

AGENT = "acme-shop/1.2 <b>"


async def test_the_key_page_lists_callers_of_the_key_and_of_the_one_before(api: Api):
    acme = api.acme
    api.client.headers["User-Agent"] = AGENT
    await acme.customer()
    await api.sale()
    await acme.store.write(program_keys.regenerate, acme.program_id, at=NOW)
    api.come_from("203.0.113.5")
    assert (await api.refund()).status_code == 401
    await background.save_callers(acme.store)
    token = (await acme.store.write(sessions.start, acme.owner_id, at=NOW)).token

    async with httpx.AsyncClient(transport=api.transport, base_url="http://svc.test") as browser:
        path = f"/programs/{acme.program_id}/settings/api-keys"
        page = await browser.get(path, headers={"Cookie": f"svc_session={token}"})

    assert page.status_code == 200
    assert "acme-shop/1.2 &lt;b&gt;" in page.text
    assert AGENT not in page.text
    assert "refund 1" in page.text
    assert "203.0.113" not in page.text
    assert page.text.count("Replaced") == 3  # the caller that sold, the one from elsewhere, and the lead's
