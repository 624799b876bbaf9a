"""A list and an action that this file alone declares are on every surface, behind the checks of their audience."""

import csv
import io
from collections.abc import AsyncIterator
from datetime import datetime
from typing import Annotated, Any, NamedTuple

import httpx
import pytest
from sqlalchemy import func

import agent_api.app
import mcp_server.app
import tracking_api.app
from configuration import Configuration
from mcp_server.results import JsonRow
from mcp_server.tools.lists import Asked, list_tool
from presentation.api_request import ApiRequest
from presentation.lists import listing
from presentation.operations import described, operation
from presentation.resource_table import MEMBER, OWNER, Resource
from presentation.settings_models import Name
from storage import Storage
from storage.lists.declaration import Column, List
from storage.lists.related import contains
from storage.management import partners
from storage.rules.scope import Scope
from storage.rules.untrusted import Untrusted
from storage.tables import partners as table
from tests.security import operations
from tests.security.operations import Entry, Scene, code
from tests.tracking_api.dashboard.reading import csrf, words
from tests.world import NOW
from tracking_api.dashboard import routes as members
from tracking_api.dashboard.pages.buttons import Button, FormPage
from tracking_api.dashboard.pages.lists import ListPage
from tracking_api.dashboard.pages.page import page
from tracking_api.dashboard.routes import list_routes
from web.body import Body
from web.middleware import RequestMiddleware

BASE = "http://svc.test"
PAGE = "/programs/{program_id}/nicknames"
OURS = {"Origin": BASE, "Sec-Fetch-Site": "same-origin"}


class Nickname(NamedTuple):
    """What a partner is called among friends."""

    id: int
    created_at: Annotated[datetime, Column("Since", is_day=True)]
    name: Annotated[Untrusted, Column("Nickname", sorts=True)]
    length: Annotated[int, Column("Letters", func.length(table.c.name), is_summed=True)]


class NewNickname(Body):
    """Another nickname."""

    name: Name


NICKNAMES = List(
    "nicknames",
    Nickname,
    table,
    about="What partners are called",
    finds="Nickname",
    search=lambda _, text: contains(table.c.name, text),
)


@operation(notice="partner-changed")
async def rename(call: ApiRequest, sent: NewNickname) -> None:
    """Give a partner a nickname."""
    await call.write(partners.change, call.path_id("partner_id"), {"name": sent.name})


RESOURCES = (
    Resource("GET", "/nicknames", listing(NICKNAMES), MEMBER, Scope.PARTNERS_READ),
    Resource("PATCH", "/nicknames/{partner_id}", rename, OWNER, Scope.PARTNERS_WRITE),
)
NICKNAME_LIST = ListPage(NICKNAMES)
RENAMING = FormPage(NICKNAME_LIST.page, Button(rename, then=PAGE))

PAGES = [*list_routes(PAGE, NICKNAME_LIST), page(f"{PAGE}/{{partner_id}}", POST=RENAMING.press)]
AGENTS = agent_api.app.served(RESOURCES)
MEMBERS = members.served(RESOURCES)
ENTRIES = [Entry(method, path, description) for path, method, description in described([*MEMBERS, *AGENTS])]


@list_tool("Nicknames", Scope.PARTNERS_READ, NICKNAMES)
def list_nicknames(asked: Asked) -> JsonRow:
    """What partners are called."""
    return asked.page()


class Surfaces(NamedTuple):
    """The service with the declared beside all else."""

    scene: Scene
    client: httpx.AsyncClient

    async def call(self, method: str, path: str, key: str | None, **options: Any) -> httpx.Response:
        """Call a path of Acme's program with a session's token or an agent key."""
        named = path.format_map({"program_id": self.scene.acme.program_id, "partner_id": self.scene.acme.anna})
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        return await self.client.request(method, named, headers=headers, **options)

    def browser(self) -> httpx.AsyncClient:
        cookies = {"svc_session": self.scene.sessions["owner"]}
        return httpx.AsyncClient(transport=self.client._transport, base_url=BASE, cookies=cookies, headers=OURS)  # noqa: SLF001 - the same app


@pytest.fixture
async def surfaces(store: Storage) -> AsyncIterator[Surfaces]:
    scene, config = await operations.prepare(store), Configuration(base_url=BASE, secret_key="a secret key")
    about: Any = {"base_url": BASE, "sealer": config.sealer, "clock": lambda: NOW}
    agents = agent_api.app.create(store, **about, routes=[*agent_api.app.ROUTES, *AGENTS])
    routes = [*tracking_api.app.ROUTES, *MEMBERS, *PAGES]
    tracking = tracking_api.app.create(store, config, clock=lambda: NOW, routes=routes, others=AGENTS)
    async with mcp_server.app.serving(store.reader, config, clock=lambda: NOW, tools=[list_nicknames]) as mcp:

        async def serve(scope: Any, receive: Any, send: Any) -> None:
            first = scope["path"].split("/")[1:3]
            app = mcp if first[0] == "mcp" else agents if first == ["api", "agent"] else tracking
            await app(scope, receive, send)

        transport = httpx.ASGITransport(RequestMiddleware(serve))
        async with httpx.AsyncClient(transport=transport, base_url=BASE) as client:
            yield Surfaces(scene, client)


async def test_the_list_is_a_page_with_its_search_order_totals_and_file_and_the_action_its_form(surfaces: Surfaces):
    path = PAGE.format(program_id=surfaces.scene.acme.program_id)
    async with surfaces.browser() as browser:
        page, found = await browser.get(f"{path}?sort=name"), await browser.get(f"{path}?q=nobody")
        exported = await browser.get(f"{path}.csv?q=ann")
        form = {"csrf": await csrf(browser), "name": "Annie"}
        renamed = await browser.post(f"{path}/{surfaces.scene.acme.anna}", data=form)
        wrong = await browser.post(f"{path}/{surfaces.scene.acme.anna}", data=form | {"name": ""})
        after = await browser.get(path)

    assert "May 20, 2026 Anna 4 " in words(page.text)
    assert "Total of 2 7" in words(page.text)
    assert "No nickname matches" in found.text
    assert [(row["name"], row["length"]) for row in csv.DictReader(io.StringIO(exported.text))] == [("Anna", "4")]
    assert (renamed.status_code, renamed.headers["location"], wrong.status_code) == (303, path, 400)
    assert "Annie" in words(after.text)


async def test_members_agents_and_assistants_read_the_list_and_both_apis_serve_the_action(surfaces: Surfaces):
    key, owner = (await surfaces.scene.acme.issue()).secret, surfaces.scene.sessions["owner"]
    for who, prefix in ((owner, "/api"), (key, "/api/agent/v1")):
        listed = await surfaces.call("GET", f"{prefix}{PAGE}?q=ben&totals=true", who)
        renamed = await surfaces.call("PATCH", f"{prefix}{PAGE}/{{partner_id}}", who, json={"name": "Annie"})
        assert [row["name"] for row in listed.json()["data"]] == ["Ben"]
        assert (listed.json()["totals"]["sums"], renamed.json()) == ({"length": 3}, {"success": True})

    arguments = {"program_id": surfaces.scene.acme.program_id, "q": "ann", "totals": True}
    called = {"method": "tools/call", "params": {"name": "list_nicknames", "arguments": arguments}}
    accepted = {"Accept": "application/json, text/event-stream", "Authorization": f"Bearer {key}"}
    asked = {"jsonrpc": "2.0", "id": 1, **called}
    result = (await surfaces.client.post("/mcp", json=asked, headers=accepted)).json()["result"]["structuredContent"]
    assert ([row["name"] for row in result["data"]], result["totals"]["sums"]) == (["Annie"], {"length": 5})


async def test_the_document_describes_both(surfaces: Surfaces):
    paths = (await surfaces.client.get("/openapi.json")).json()["paths"]

    for prefix, names in (
        ("/api", ("listNicknames", "rename")),
        ("/api/agent/v1", ("agentListNicknames", "agentRename")),
    ):
        listed, renamed = paths[prefix + PAGE]["get"], paths[f"{prefix}{PAGE}/{{partner_id}}"]["patch"]
        assert (listed["operationId"], renamed["operationId"]) == names
        assert {"q", "sort", "totals"} <= {each["name"] for each in listed["parameters"]}
        assert "NewNickname" in str(renamed["requestBody"])


async def test_the_access_matrix_has_both(surfaces: Surfaces):
    scene = surfaces.scene
    scopes = [each for each in Scope if each not in {Scope.PARTNERS_READ, Scope.PARTNERS_WRITE}]
    tried = {
        "session": (None, scene.sessions["stranger"], scene.sessions["member"]),
        "agentKey": (None, scene.sessions["owner"], (await scene.acme.issue(*scopes)).secret),
    }

    codes = {
        (entry.kind, entry.method): [code(await surfaces.call(entry.method, entry.path, key, json={})) for key in keys]
        for entry in ENTRIES
        for keys in (tried[entry.kind],)
    }

    assert codes == {
        ("session", "GET"): ["forbidden", "forbidden", ""],
        ("session", "PATCH"): ["forbidden", "forbidden", "owner_required"],
        ("agentKey", "GET"): ["invalid_key", "wrong_key_type", "insufficient_scope"],
        ("agentKey", "PATCH"): ["invalid_key", "wrong_key_type", "insufficient_scope"],
    }
