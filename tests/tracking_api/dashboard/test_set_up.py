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
from tests.world import NOW
from web.middleware import RequestMiddleware

CODE = "set_the-code-that-was-printed"
OURS = {"Origin": "http://svc.test", "Sec-Fetch-Site": "same-origin"}
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


@pytest.mark.parametrize("path", ["/", "/sign-in"])
async def test_an_empty_server_says_that_it_needs_setting_up_and_where_the_code_is(
    stranger: httpx.AsyncClient, path: str
):
    shown = await stranger.get(path)

    assert "Set up this server" in shown.text
    assert "<code>svc serve</code>" in shown.text
    assert 'action="/set-up"' in shown.text


@pytest.mark.parametrize("query", ["", "?code=", "?code=set_wrong"])
async def test_without_the_code_there_is_no_set_up_page(stranger: httpx.AsyncClient, query: str):
    shown = await stranger.get(f"/set-up{query}")
    sent = await send(stranger, code=query.partition("=")[2])

    assert (shown.status_code, sent.status_code) == (404, 404)
    assert "svc serve" in shown.text


async def test_a_server_that_printed_no_code_is_opened_by_none(store: Storage):
    app = RequestMiddleware(tracking_api.app.create(store, Configuration(secret_key="a secret key")))
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://svc.test") as client:
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
    sent = await stranger.post("/set-up", data=TYPED, headers={"Sec-Fetch-Site": "cross-site"})

    assert sent.status_code == 303
    assert not await store.read(workspaces.exist)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("email", "olga"),
        ("new_password", "password12"),
        ("repeated", "something else"),
        ("workspace_name", " "),
        ("domain", "https://"),
        ("currency", "XXX"),
        ("partner_code", "an na"),
    ],
)
async def test_an_error_appears_beside_its_field_and_nothing_is_created(
    stranger: httpx.AsyncClient, store: Storage, field: str, value: str
):
    typed = {"new_password": value, "repeated": value} if field == "new_password" else {field: value}

    sent = await send(stranger, **typed)

    assert sent.status_code == 400
    assert f'href="#{field}"' in sent.text
    assert 'value="Acme partners"' in sent.text
    assert TYPED["new_password"] not in sent.text
    assert not await store.read(workspaces.exist)
