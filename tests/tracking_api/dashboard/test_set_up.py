"""Setting up an empty server over plain HTTP: whom the one-time code lets in, and what the form creates."""

import asyncio
from collections.abc import AsyncIterator

import httpx
import pytest

import tracking_api.app
from configuration import Configuration
from storage import Storage
from storage.access import workspaces
from storage.rules import keys
from tests.tracking_api.dashboard.conftest import FOREIGN, OURS
from tests.tracking_api.dashboard.reading import form_of
from tests.world import NOW
from web.middleware import RequestMiddleware

CODE = "set_the-code-that-was-printed"
TYPED = {
    "code": CODE,
    "email": "olga@acme.example",
    "new_password": "correct horse battery",
    "repeated": "correct horse battery",
    "workspace_name": "Acme",
    "program_name": "Acme partners",
    "domain": "acme.example",
    "currency": "usd",
    "partner_name": "Anna",
    "partner_code": "anna",
}
WRONG = [
    {"email": "olga"},
    {"new_password": "password12", "repeated": "password12"},
    {"repeated": "something else"},
    {"workspace_name": " "},
    {"domain": "https://"},
    {"currency": "XXX"},
    {"partner_code": "an na"},
]


@pytest.fixture
def database_url(sqlite_url: str) -> str:
    """The surface is the same on each database: storage's own tests run on both."""
    return sqlite_url


@pytest.fixture
async def stranger(store: Storage) -> AsyncIterator[httpx.AsyncClient]:
    """A browser at an empty server whose code is CODE."""
    settings = Configuration(secret_key="a secret key", set_up_code_hash=keys.digest(CODE), sign_in_rate="5/minute")
    app = RequestMiddleware(tracking_api.app.create(store, settings, clock=lambda: NOW))
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://svc.test") as client:
        yield client


async def send(client: httpx.AsyncClient, **changed: str) -> httpx.Response:
    return await client.post("/set-up", data=TYPED | changed, headers=OURS)


async def test_an_empty_server_says_that_it_needs_setting_up_and_where_the_code_is(stranger: httpx.AsyncClient):
    for path in ("/", "/sign-in"):
        shown = (await stranger.get(path)).text

        assert "Set up this server" in shown, path
        assert "<code>svc serve</code>" in shown, path
        assert 'action="/set-up"' in shown, path


async def test_without_the_code_there_is_no_set_up_page(stranger: httpx.AsyncClient, store: Storage):
    assert (await stranger.get("/set-up")).status_code == 404
    for code in ("", "set_wrong"):
        shown, sent = await stranger.get(f"/set-up?code={code}"), await send(stranger, code=code)

        assert (shown.status_code, sent.status_code) == (404, 404), code
        assert "svc serve" in shown.text
    printed_none = RequestMiddleware(tracking_api.app.create(store, Configuration(secret_key="a secret key")))
    async with httpx.AsyncClient(transport=httpx.ASGITransport(printed_none), base_url="http://svc.test") as client:
        assert [(await client.get(f"/set-up?code={code}")).status_code for code in ("", "None")] == [404, 404]


async def test_wrong_codes_are_limited_and_the_right_one_waits_with_them(stranger: httpx.AsyncClient):
    tries = [(await stranger.get("/set-up?code=wrong")).status_code for _ in range(6)]

    assert tries == [404] * 5 + [429]
    assert (await stranger.get(f"/set-up?code={CODE}")).status_code == 429


async def test_the_form_signs_the_owner_in_and_shows_the_key_once(stranger: httpx.AsyncClient):
    assert "Set up this server" in (await stranger.get(f"/set-up?code={CODE}")).text

    done = await send(stranger)

    assert done.status_code == 200
    assert done.headers["cache-control"] == "no-store"
    assert "SERVICE_PROGRAM_ID=1\nSERVICE_API_KEY=aff_1_" in done.text
    checklist = await stranger.get("/programs/1/settings/checklist")
    assert (checklist.status_code, "?aff=anna" in checklist.text) == (200, True)


async def test_the_code_works_once(stranger: httpx.AsyncClient):
    first, second = await asyncio.gather(send(stranger), send(stranger, email="eve@evil.example"))
    stranger.cookies.clear()
    shown, again = await stranger.get(f"/set-up?code={CODE}"), await send(stranger)

    assert sorted([first.status_code, second.status_code]) in ([200, 303], [200, 403])
    assert [each.headers["location"].partition("?")[0] for each in (shown, again)] == ["/sign-in"] * 2
    assert (await stranger.get("/sign-in")).text.count('name="password"') == 1


async def test_a_form_from_another_site_sets_nothing_up(stranger: httpx.AsyncClient, store: Storage):
    sent = await stranger.post("/set-up", data=TYPED, headers=FOREIGN)

    assert sent.status_code == 303
    assert not await store.read(workspaces.exist)


async def test_an_error_appears_beside_its_field_and_nothing_is_created_until_it_is_corrected(
    stranger: httpx.AsyncClient, store: Storage
):
    shown = (await stranger.get(f"/set-up?code={CODE}")).text
    for wrong in WRONG:
        sent = await send(stranger, **wrong)

        assert sent.status_code == 400, wrong
        assert f'href="#{next(iter(wrong))}"' in sent.text, wrong
        assert 'value="Acme partners"' in sent.text
        assert TYPED["new_password"] not in sent.text
        assert not await store.read(workspaces.exist)
    action, kept = form_of((await send(stranger, domain="https://", currency="SEK")).text, "Set up")
    passwords = {name: TYPED[name] for name in ("new_password", "repeated")}
    corrected = await stranger.post(action, data=kept | passwords | {"domain": "acme.example"}, headers=OURS)

    assert 'action="/set-up"' in shown
    assert (kept["currency"], corrected.status_code) == (["SEK"], 200)
    assert "Your program key" in corrected.text
