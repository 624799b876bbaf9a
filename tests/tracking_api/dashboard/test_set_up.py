"""Setting up an empty server, whom its one-time code lets in; and the program's key, shown once and replaced."""

import asyncio
import re
from collections.abc import AsyncIterator
from datetime import timedelta

import httpx
import pytest

import tracking_api.app
from configuration import Configuration
from storage import Storage
from storage.access import program_keys, workspaces
from tests.tables import table
from tests.tracking_api.dashboard.conftest import FOREIGN, MAX, OURS, Dashboard
from tests.tracking_api.dashboard.reading import form_of, send, words
from tests.world import NOW
from web.middleware import RequestMiddleware

SETTINGS = Configuration(secret_key="a secret key", base_url="http://svc.test", sign_in_rate="5/minute")
CODE = SETTINGS.set_up_code()
WRITTEN = table("tracking_api/dashboard/set_up.toml")
TYPED: dict[str, str] = {"code": CODE, **WRITTEN["typed"]}
STATUS = "/api/v1/cli/status"


@pytest.fixture
async def stranger(store: Storage) -> AsyncIterator[httpx.AsyncClient]:
    """A browser at an empty server whose code is CODE."""
    app = RequestMiddleware(tracking_api.app.create(store, SETTINGS, clock=lambda: NOW))
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://svc.test") as client:
        yield client


async def set_up(client: httpx.AsyncClient, **changed: str) -> httpx.Response:
    return await client.post("/set-up", data=TYPED | changed, headers=OURS)


async def test_there_is_no_set_up_without_the_code_or_from_another_site(stranger: httpx.AsyncClient, store: Storage):
    assert (await stranger.post("/set-up", data=TYPED, headers=FOREIGN)).status_code == 303
    assert not await store.read(workspaces.exist)
    assert "<code>svc serve</code>" in (await stranger.get("/sign-in")).text
    assert (await stranger.get("/set-up")).status_code == 404
    for code in ("", "set_wrong"):
        shown, sent = await stranger.get(f"/set-up?code={code}"), await set_up(stranger, code=code)

        assert (shown.status_code, sent.status_code) == (404, 404), code
    printed_none = RequestMiddleware(tracking_api.app.create(store, Configuration(secret_key="a secret key")))
    async with httpx.AsyncClient(transport=httpx.ASGITransport(printed_none), base_url="http://svc.test") as client:
        assert [(await client.get(f"/set-up?code={code}")).status_code for code in ("", "None")] == [404, 404]


async def test_wrong_codes_are_limited_and_the_right_one_waits_with_them(stranger: httpx.AsyncClient):
    tries = [(await stranger.get("/set-up?code=wrong")).status_code for _ in range(6)]

    assert tries == [404] * 5 + [429]
    assert (await stranger.get(f"/set-up?code={CODE}")).status_code == 429


async def test_the_code_works_once_signs_the_owner_in_and_shows_the_key(stranger: httpx.AsyncClient):
    assert "Set up this server" in (await stranger.get(f"/set-up?code={CODE}")).text

    answers = await asyncio.gather(set_up(stranger), set_up(stranger, email="eve@evil.example"))
    [done], [late] = [[each for each in answers if (each.status_code == 200) == is_done] for is_done in (True, False)]
    checklist = await stranger.get("/programs/1/settings/checklist")
    stranger.cookies.clear()
    shown, again = await stranger.get(f"/set-up?code={CODE}"), await set_up(stranger)

    assert (done.headers["cache-control"], late.status_code in {303, 403}) == ("no-store", True)
    assert secret_of(done.text).startswith("aff_1_")
    assert (checklist.status_code, "?aff=anna" in checklist.text) == (200, True)
    assert [each.headers["location"].partition("?")[0] for each in (shown, again)] == ["/sign-in"] * 2
    assert (await stranger.get("/sign-in")).text.count('name="password"') == 1


async def test_an_error_appears_beside_its_field_and_nothing_is_created_until_it_is_corrected(
    stranger: httpx.AsyncClient, store: Storage
):
    shown = (await stranger.get(f"/set-up?code={CODE}")).text
    for wrong in WRITTEN["wrong"]:
        sent = await set_up(stranger, **wrong)

        assert sent.status_code == 400, wrong
        assert f'href="#{next(iter(wrong))}"' in sent.text, wrong
        assert 'value="Acme partners"' in sent.text
        assert TYPED["new_password"] not in sent.text
        assert not await store.read(workspaces.exist)
    action, kept = form_of((await set_up(stranger, domain="https://", currency="SEK")).text, "Set up")
    passwords = {name: TYPED[name] for name in ("new_password", "repeated")}
    corrected = await stranger.post(action, data=kept | passwords | {"domain": "acme.example"}, headers=OURS)

    assert 'action="/set-up"' in shown
    assert (kept["currency"], corrected.status_code) == (["SEK"], 200)
    assert "Your program key" in corrected.text


def secret_of(page: str) -> str:
    lines = r">SERVICE_PROGRAM_ID=\d+\nSERVICE_API_KEY=(\S+)\nSERVICE_BASE_URL=http://svc.test<"
    return re.findall(lines, page)[0]


async def test_a_new_program_asks_for_its_key_and_creates_it_without_a_warning(dashboard: Dashboard):
    olga = dashboard.olga
    about = {"name": "Oslo", "domain": "oslo.example", "currency": "NOK"}
    created = await send(olga, "/programs/new", "Create program", **about)
    place = created.headers["location"].removesuffix("/settings/checklist")
    before = (await olga.get(f"{place}/settings/api-keys")).text

    shown = (await send(olga, f"{place}/settings/api-keys", "Create the key")).text

    assert "card danger" not in before
    assert (await dashboard.get(STATUS, secret_of(shown))).json()["data"]["name"] == "Oslo"


async def test_a_key_is_replaced_once_confirmed_shown_once_and_not_replaced_again_by_a_reload(dashboard: Dashboard):
    olga = dashboard.olga
    path, old = f"{dashboard.pages}/settings/api-keys", dashboard.acme.key
    _, fields = form_of((await olga.get(path)).text, "Generate a new key")

    unconfirmed = await olga.post(path, data=fields)
    replaced = await olga.post(path, data=fields | {"confirmed": "yes"})
    reloaded = await olga.post(path, data=fields | {"confirmed": "yes"})

    new, page = secret_of(replaced.text), (await olga.get(path)).text
    assert (unconfirmed.status_code, "Tick the box first" in unconfirmed.text) == (400, True)
    assert (replaced.status_code, replaced.headers["cache-control"]) == (200, "no-store")
    assert (reloaded.status_code, "This key was already replaced" in reloaded.text) == (400, True)
    assert (await dashboard.get(STATUS, old)).json()["error"]["code"] == "invalid_key"
    assert (await dashboard.get(STATUS, new)).status_code == 200
    assert (new in reloaded.text + page, f"aff_••••{new[-4:]}" in page) == (False, True)


async def test_a_flagged_key_is_announced_on_every_page(dashboard: Dashboard):
    await dashboard.acme.do(program_keys.flag, rotate_by=NOW + timedelta(days=9))

    async with dashboard.browser() as olga, dashboard.browser(MAX) as other:
        pages = [words((await each.get(f"{dashboard.pages}/partners")).text) for each in (olga, other)]

    assert all("Replace the program key." in page for page in pages)
    assert ["Generate a new key" in page for page in pages] == [True, False]
