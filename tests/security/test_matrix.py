"""Every operation with every credential and everybody's ids: the expected response by rule, from the route tables.

An operation that is added to a route table is in here without being named. `OPEN` names those that need no credential,
so that a new one does not become public by accident.
"""

import re
from collections.abc import AsyncIterator
from typing import Any, NamedTuple

import httpx
import pytest

import agent_api.app
import storage
import tracking_api.app
from configuration import Configuration
from presentation.operations import Description, described
from storage.access import sessions
from storage.rules.errors import OwnerRequired
from storage.rules.scope import Scope
from tests import world
from tests.security import matrix
from tests.security.matrix import MISSING, Case, Scene
from tests.world import NOW
from web.errors import STATUS
from web.middleware import RequestMiddleware

OPEN = {
    *("trackClick", "prefetchClick", "preflightClick", "trackLead", "preflightLead", "receiveStripeEvent"),
    *("issueHandover", "preflightHandover", "redeemHandover", "preflightRedeem"),
    *("getTracker", "getHealth", "getReadiness", "listGuides", "getGuide", "getOpenapi", "healthz", "readyz"),
    *("logIn", "logOut", "startDeviceLogin", "pollDeviceLogin"),
}


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
    def needs_owner(self) -> bool:
        return OwnerRequired in self.described.errors

    @property
    def scopes(self) -> tuple[Scope, ...]:
        return tuple(Scope(scope) for scope in self.described.security[0]["agentKey"])

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

    async def call(self, entry: Entry, credential: str | None, **ids: Any) -> httpx.Response:
        """Send an empty body to an operation on Acme's rows, or on others; nothing may ever be a 500."""
        known: dict[str, Any] = {**dict.fromkeys(entry.parameters, MISSING), **self.scene.ids, **ids}
        headers = {b"Authorization": f"Bearer {credential}".encode()} if credential is not None else {}
        content: Any = None if entry.method in {"GET", "DELETE"} else {}
        response = await self.client.request(entry.method, entry.path.format_map(known), headers=headers, json=content)
        assert response.status_code < 500, f"{entry}: {response.text}"
        return response

    async def fresh_owner(self) -> str:
        """Sign Acme's owner in: some operations end the session that they are called with."""
        started = await self.scene.acme.store.write(sessions.start, self.scene.acme.owner_id, at=NOW)
        return str(started.token)


@pytest.fixture
async def service(sqlite_url: str) -> AsyncIterator[Service]:
    async with storage.opened(sqlite_url) as store:
        scene = await matrix.prepare(store)
        settings = Configuration(database_url=sqlite_url, rate_limit=False, secret_key="a secret key")
        agents = agent_api.app.create(store, base_url=settings.base_url, clock=lambda: NOW)
        tracking = tracking_api.app.create(store, settings, clock=lambda: NOW)

        async def both(scope: Any, receive: Any, send: Any) -> None:
            await (agents if scope["path"].startswith("/api/agent/") else tracking)(scope, receive, send)

        transport = httpx.ASGITransport(RequestMiddleware(both))
        async with httpx.AsyncClient(transport=transport, base_url="http://svc.test") as client:
            yield Service(client, scene)


def code(response: httpx.Response) -> str:
    body = response.json() if response.content else {}
    return str(body.get("error", {}).get("code", ""))


def visible_in(response: httpx.Response) -> tuple[int, Any]:
    """Return everything in a response except the request's id."""
    return response.status_code, response.json()["error"]


async def rejected(service: Service, entries: list[Entry], cases: list[Case]) -> list[str]:
    """Return each combination that is not rejected with the case's code and its status."""
    wrong = []
    for entry in entries:
        for case in cases:
            response = await service.call(entry, case.credential)
            if (response.status_code, code(response)) != (STATUS[case.error], case.error):
                wrong.append(f"{entry} with {case.name}: {response.status_code} {code(response)}")
    return wrong


def test_the_operations_that_need_no_credential_are_named():
    assert {entry.described.name for entry in needing("")} <= OPEN
    assert {entry.kind for entry in ENTRIES} == {"", "session", "agentKey", "programKey"}


async def test_no_wrong_credential_opens_an_operation_for_members(service: Service):
    assert await rejected(service, needing("session"), await matrix.session_cases(service.scene)) == []


async def test_no_wrong_credential_opens_an_operation_for_agents(service: Service):
    assert await rejected(service, needing("agentKey"), await matrix.agent_key_cases(service.scene)) == []


async def test_no_wrong_credential_opens_an_operation_for_the_program_key(service: Service):
    assert await rejected(service, needing("programKey"), await matrix.program_key_cases(service.scene)) == []


@pytest.mark.parametrize("who", ["stranger", "suspended"])
async def test_who_is_no_active_member_learns_nothing_about_a_program_or_workspace(service: Service, who: str):
    token, wrong = service.scene.sessions[who], []
    for entry in needing("session"):
        if "{program_id}" in entry.path or "{workspace_id}" in entry.path:
            theirs = await service.call(entry, token)
            missing = await service.call(entry, token, program_id=MISSING, workspace_id=MISSING)
            if visible_in(theirs) != visible_in(missing) or code(theirs) != "forbidden":
                wrong.append(f"{entry}: {visible_in(theirs)}, {visible_in(missing)}")

    assert wrong == []


async def test_a_member_may_do_what_needs_no_owner_and_nothing_else(service: Service):
    token, wrong = service.scene.sessions["member"], []
    for entry in needing("session"):
        if entry.needs_owner:
            response = await service.call(entry, token)
            if code(response) != "owner_required" and "{" in entry.path:
                wrong.append(f"{entry}: {response.status_code} {code(response)}")
        elif entry.method == "GET":
            response = await service.call(entry, token)
            if response.status_code in {401, 403}:
                wrong.append(f"{entry}: {response.status_code} {code(response)}")

    assert wrong == []


async def test_a_scope_opens_its_operations_and_no_other_scope_does(service: Service):
    wrong = []
    for entry in needing("agentKey"):
        for scopes in filter(None, [entry.scopes, tuple(set(Scope) - set(entry.scopes)) if entry.scopes else ()]):
            key = (await service.scene.agent_key(scopes)).secret
            response = await service.call(entry, key)
            may = set(entry.scopes) <= set(scopes)
            if (response.status_code in {401, 403}) == may or (not may and code(response) != "insufficient_scope"):
                wrong.append(f"{entry} with {scopes}: {response.status_code} {code(response)}")

    assert wrong == []


async def test_a_key_reaches_no_program_but_its_own_and_cannot_tell_which_exist(service: Service):
    scene, wrong = service.scene, []
    narrowed = (await scene.agent_key(program_ids=[scene.acme.program_id])).secret
    beside = await world.program_of(scene.acme.store, scene.acme.workspace_id, scene.acme.owner_id)
    elsewhere = (await scene.agent_key(workspace_id=scene.globex.workspace_id)).secret
    for entry in needing("agentKey"):
        if "{program_id}" in entry.path:
            responses = [
                await service.call(entry, narrowed, program_id=MISSING),
                await service.call(entry, narrowed, program_id=beside.program_id),
                await service.call(entry, narrowed, program_id=scene.globex.program_id),
                await service.call(entry, elsewhere),
            ]
            if {code(each) for each in responses} != {"program_not_allowed"} or len(
                set(map(str, map(visible_in, responses)))
            ) > 1:
                wrong.append(f"{entry}: {[visible_in(each) for each in responses]}")

    assert wrong == []


def test_every_sort_of_row_has_a_foreign_one():
    tried = {"partner_id", "commission_id", "customer_id", "flag_id", "user_id", "session_id", "invitation_id"}
    elsewhere = {"event_id", "assistant_id"}  # test_payment_account.py, test_assistants.py

    assert {entry.row for entry in needing("session") + needing("agentKey")} - {""} == tried | elsewhere


@pytest.mark.parametrize("kind", ["session", "agentKey"])
async def test_another_program_s_row_and_a_missing_one_are_answered_alike(service: Service, kind: str):
    wrong, key = [], (await service.scene.agent_key()).secret
    for entry in needing(kind):
        theirs = service.scene.foreign_ids.get(entry.row)
        if theirs is not None:
            credential = key if kind == "agentKey" else await service.fresh_owner()
            foreign = await service.call(entry, credential, **{entry.row: theirs})
            missing = await service.call(entry, credential, **{entry.row: MISSING})
            if visible_in(foreign) != visible_in(missing) or foreign.status_code not in {400, 404}:
                wrong.append(f"{entry}: {visible_in(foreign)}, {visible_in(missing)}")

    assert wrong == []


@pytest.mark.parametrize("odd", ["0", "-1", "x", "9" * 30, "1.5", "%00", "..%2f1", "\u0661"])
async def test_an_id_that_is_none_breaks_no_operation(service: Service, odd: str):
    key = (await service.scene.agent_key()).secret
    for entry in ENTRIES:
        if "{" in entry.path:
            credential = key if entry.kind == "agentKey" else await service.fresh_owner()
            everywhere = dict.fromkeys(entry.parameters, odd)
            response = await service.call(entry, credential, **everywhere)
            assert response.status_code in {200, 400, 403, 404, 405, 415}, str(entry)
