"""Every operation, called over Acme and Globex with any credential: each response is documented, and none is a 500."""

import re
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any, NamedTuple

import httpx

import agent_api.app
import storage
import tracking_api.app
from configuration import Configuration
from presentation.operations import Description, described
from storage.access import agent_keys, program_keys, sessions
from storage.access.workspaces import ANYONE, Role
from storage.rules import keys
from storage.rules.scope import Scope
from tests import documented, world
from tests.security import rows
from tests.tracking_api.portal.conftest import start_session
from tests.world import NOW, World

MISSING = 987_654
OTHERS = [role for role in Role if role != Role.OWNER]
GONE = NOW - timedelta(days=60)
ORIGIN = {"Origin": "https://acme.example"}  # hand-overs belong to the program's own pages


class Case(NamedTuple):
    """A credential, and whether it opens what belongs to Acme."""

    name: str
    credential: str | None
    error: str = ""  # the code that every operation answers; empty: it is let in


class Scene(NamedTuple):
    """Acme's program with everything in it, and Globex's beside it; `ids` are path parameters that exist."""

    acme: World
    globex: World
    sessions: Mapping[str, str]
    ids: Mapping[str, Any]
    foreign_ids: Mapping[str, Any]


async def prepare(store: storage.Storage) -> Scene:
    acme = await world.acme(store)
    globex = await world.globex(store, name="Globex partners")
    people = {"owner": acme.owner_id, "stranger": globex.owner_id}
    for name, role in (*((role, role) for role in OTHERS), ("suspended", Role.OWNER)):
        people[name] = await acme.join(f"{name}@acme.example", role)
    started = {name: await acme.sign_in(user) for name, user in people.items()}
    started |= {"expired": await acme.sign_in(at=GONE), "ended": await acme.sign_in()}
    await store.write(sessions.end, sessions.by_token(keys.digest(started["ended"])))
    await world.suspend(store, acme.workspace_id, "suspended@acme.example")
    mine, theirs = await rows.each(acme, people["member"]), await rows.each(globex, globex.owner_id)
    for ids, name in ((mine, "owner"), (theirs, "stranger")):
        token_hash = keys.digest(started[name])
        listed = await store.read(sessions.list_open, sessions.of_user(people[name]), token_hash, at=NOW)
        ids["session_id"] = listed[-1].id
    return Scene(acme, globex, started, mine, theirs)


async def session_cases(scene: Scene) -> list[Case]:
    wrong = {
        "none": None,
        "malformed": "\u00e9 x",
        "unknown": f"ses_{'a' * 43}",
        "expired": scene.sessions["expired"],
        "ended": scene.sessions["ended"],
        "program key": scene.acme.key,
        "agent key": (await scene.acme.issue()).secret,
        "a partner's session": await start_session(scene.acme, scene.acme.anna),
    }
    return [Case(name, credential, "forbidden") for name, credential in wrong.items()]


async def agent_key_cases(scene: Scene) -> list[Case]:
    revoked = await scene.acme.issue()
    await scene.acme.store.write(agent_keys.revoke, revoked.id, at=NOW)
    invalid = {
        "none": None,
        "malformed": "agt_",
        "unknown": f"agt_{'a' * 43}",
        "revoked": revoked.secret,
        "expired": (await scene.acme.issue(expires_at=NOW)).secret,
    }
    wrong = {"program key": scene.acme.key, "session": scene.sessions["owner"]}
    return [
        *(Case(name, credential, "invalid_key") for name, credential in invalid.items()),
        *(Case(name, credential, "wrong_key_type") for name, credential in wrong.items()),
    ]


async def program_key_cases(scene: Scene) -> list[Case]:
    store, acme = scene.acme.store, scene.acme
    retired = await world.program_of(store, acme.workspace_id, acme.owner_id, name="Retired")
    await retired.do(program_keys.regenerate)
    late = await world.program_of(store, acme.workspace_id, acme.owner_id, name="Late")
    await late.do(program_keys.flag, rotate_by=NOW - timedelta(days=1), at=GONE)
    wrong = {
        "none": None,
        "malformed": "aff_",
        "unknown": f"aff_1_{'a' * 43}",
        "retired": retired.key,
        "session": scene.sessions["owner"],
        "agent key": (await scene.acme.issue()).secret,
    }
    cases = [Case(name, credential, "invalid_key") for name, credential in wrong.items()]
    return [*cases, Case("past its deadline", late.key, "api_key_rotation_required")]


class Entry(NamedTuple):
    """An operation of the route tables."""

    method: str
    path: str
    described: Description

    @property
    def kind(self) -> str:
        """The credential that it needs; empty if it needs none."""
        needed = self.described.security
        return "" if not needed or any(not each for each in needed) else next(iter(needed[0]))

    @property
    def roles(self) -> frozenset[Role]:
        """The roles of the members who may call it."""
        return frozenset(map(Role, self.described.security[0]["session"])) or ANYONE

    @property
    def scope(self) -> Scope | None:
        """The scope that it needs; of a decision about a commission the one that most decisions need."""
        return next((Scope(scope) for scope in self.described.security[0]["agentKey"]), None)

    @property
    def row(self) -> str:
        """The path parameter that names a row of a program or a workspace; empty if there is none."""
        name = self.parameters[-1] if self.parameters else ""
        return "" if name in {"program_id", "workspace_id"} else name

    @property
    def parameters(self) -> list[str]:
        return re.findall(r"\{(\w+)", self.path)

    def __str__(self) -> str:
        return f"{self.method} {self.path}"


ENTRIES = [
    Entry(method, path, description)
    for path, method, description in described([*tracking_api.app.ROUTES, *agent_api.app.ROUTES])
]


def needing(kind: str) -> list[Entry]:
    return [entry for entry in ENTRIES if entry.kind == kind]


class Service:
    """The whole service over one scene."""

    def __init__(self, client: httpx.AsyncClient, scene: Scene) -> None:
        self.client = client
        self.scene = scene

    async def call(
        self, entry: Entry, credential: str | None, *, body: Any = None, query: Any = None, **ids: Any
    ) -> httpx.Response:
        """Send a body, an empty one by default, to an operation on Acme's rows, or on others."""
        content = {"json": body or {}} if entry.method not in {"GET", "DELETE"} else {}
        return await self.send(entry, credential, ids, params=query, **content)

    async def send(self, entry: Entry, credential: str | None, ids: Mapping[str, Any], **more: Any) -> httpx.Response:
        """Send anything to an operation on Acme's rows, or on others."""
        known = {**dict.fromkeys(entry.parameters, MISSING), **self.scene.ids, **ids}
        headers = more.pop("headers", {})
        if credential is not None:
            headers = {b"Authorization": f"Bearer {credential}".encode(), **headers}
        path = entry.path.format_map(known)
        response = await self.client.request(entry.method, path, headers=headers, **more)
        assert response.status_code < 500, f"{entry}: {response.text}"
        return response

    async def credential(self, kind: str) -> str | None:
        """Return a good credential of Acme's; an owner's session is a fresh one, which an operation may end."""
        if kind == "session":
            return await self.scene.acme.sign_in()
        if kind == "agentKey":
            return str((await self.scene.acme.issue()).secret)
        return self.scene.acme.key if kind == "programKey" else None


@asynccontextmanager
async def serving(database_url: str) -> AsyncIterator[Service]:
    async with storage.opened(database_url) as store:
        scene = await prepare(store)
        settings = Configuration(database_url=database_url, rate_limit=False, secret_key="a secret key")
        async with both_apis(store, settings) as client:
            yield Service(client, scene)


def both_apis(store: storage.Storage, settings: Configuration) -> httpx.AsyncClient:
    """Return a client of the tracking API with the dashboard, and of the agent API."""
    agents = agent_api.app.create(store, base_url=settings.base_url, sealer=settings.sealer, clock=lambda: NOW)
    tracking = tracking_api.app.create(store, settings, clock=lambda: NOW)

    async def both(scope: Any, receive: Any, send: Any) -> None:
        await (agents if scope["path"].startswith("/api/agent/") else tracking)(scope, receive, send)

    return documented.client(documented.transport_to(both))


def code(response: httpx.Response) -> str:
    """Return the code of an error; empty if it is none."""
    body = response.json() if response.content and "json" in response.headers["content-type"] else {}
    return str(body.get("error", {}).get("code", ""))


def visible_in(response: httpx.Response) -> tuple[int, Any]:
    """Return all that an error says."""
    return response.status_code, response.json()["error"]
