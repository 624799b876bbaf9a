"""Every operation with every credential and everybody's ids: the expected response by rule, from the route tables.

An operation that is added to a route table is in here without being named. contract.toml names those that need no
credential, and the scopes and roles of the others, so that nothing is opened by accident.
"""

import re
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from storage.access.workspaces import ANYONE, DECIDERS, MANAGERS, OWNERS, PAYERS, Role
from storage.management import agent_caps
from storage.rules.scope import Scope
from tests import planned
from tests.security import operations, rows
from tests.security.operations import ENTRIES, MISSING, Case, Scene, Service, code, needing, visible_in
from tests.tables import table
from web.errors import STATUS

ROOT = Path(__file__).parent.parent.parent
PAGE = (ROOT / "docs/security.md").read_text(encoding="utf-8")
ROWS = [line for line in PAGE.splitlines() if re.match(r"\| (API|V)\d", line)]
NAMED = re.compile(r"`(tests/[\w/]+\.py)::(test_\w+)`")
CONTRACT: dict[str, Any] = table("security/contract.toml")
CASES = {
    "session": operations.session_cases,
    "agentKey": operations.agent_key_cases,
    "programKey": operations.program_key_cases,
}


def test_the_operations_that_need_no_credential_are_named():
    assert {entry.described.name for entry in needing("")} <= {*CONTRACT["open"]}
    assert {entry.kind for entry in ENTRIES} == {"", "session", "agentKey", "programKey"}


@pytest.mark.parametrize(("kind", "cases"), [*CASES.items()])
async def test_no_wrong_credential_works(service: Service, kind: str, cases: Callable[[Scene], Awaitable[list[Case]]]):
    wrong = []
    for case in await cases(service.scene):
        for entry in needing(kind):
            response = await service.call(entry, case.credential)
            if (response.status_code, code(response)) != (STATUS[case.error], case.error):
                wrong.append(f"{entry} with {case.name}: {response.status_code} {code(response)}")

    assert wrong == []


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


def test_members_change_what_is_their_own_managers_and_finance_what_is_their_part_and_owners_everything():
    writing: dict[frozenset[Role], set[str]] = {}
    for entry in needing("session"):
        if entry.method != "GET":
            writing.setdefault(entry.roles, set()).add(entry.described.name)
    reading = {entry.described.name for entry in needing("session") if entry.method == "GET" and entry.roles != ANYONE}
    owners = writing.pop(OWNERS)

    expected = zip((ANYONE, MANAGERS, DECIDERS, PAYERS), CONTRACT["members"].values(), strict=True)
    assert writing == {roles: set(names) for roles, names in expected}
    assert owners > {"regenerateProgramKey", "changeProgram", "changeMember", "invite", "changeAgentCaps"}
    assert reading == {"getPaymentAccount", "listInvitations", "getPayoutFile"}


@pytest.mark.parametrize("role", operations.OTHERS)
async def test_a_member_may_do_what_their_role_opens_and_nothing_else(service: Service, role: Role):
    token, wrong = service.scene.sessions[role], []
    for entry in needing("session"):
        if role not in entry.roles:
            response = await service.call(entry, token)
            if code(response) != "owner_required":
                wrong.append(f"{entry}: {response.status_code} {code(response)}")
        elif entry.method == "GET" or entry.roles != ANYONE:
            response = await service.call(entry, token)
            if response.status_code in {401, 403}:
                wrong.append(f"{entry}: {response.status_code} {code(response)}")

    assert wrong == []


def test_each_operation_of_agents_needs_the_scope_of_the_contract():
    needed: dict[str, set[str]] = {}
    for entry in needing("agentKey"):
        needed.setdefault(entry.scope or "", set()).add(entry.described.name)

    assert needed == {scope: set(names) for scope, names in CONTRACT["scopes"].items()}


async def test_a_scope_opens_its_operations_and_no_other_scope_does(service: Service):
    await service.scene.acme.do(agent_caps.change, {"apply_own_plans": True})
    for entry in needing("agentKey"):
        sufficient = await service.scene.acme.issue(entry.scope or Scope.EVENTS_READ)
        others = (await service.scene.acme.issue(*set(Scope) - {entry.scope})).secret
        sent = CONTRACT["sent"].get(entry.described.name, {})
        if {"reason", "partner_id"} & sent.get("body", {}).keys():
            sent["body"]["partner_id"] = service.scene.acme.ben
        for program_id in (MISSING, service.scene.acme.program_id) if entry.scope else ():
            rejected = await service.call(entry, others, body=sent.get("body"), program_id=program_id)
            assert (rejected.status_code, code(rejected)) == (403, "insufficient_scope"), str(entry)
            assert rejected.json()["error"]["required_scope"] == entry.scope, str(entry)

        ids: Any = await rows.payout(service.scene.acme, sent["payout"]) if "payout" in sent else {}
        ids |= sent.get("path", {})
        if entry.row == "plan_id":
            about: Any = {"applied": entry.path.endswith("/revert"), "key_id": sufficient.id}
            ids = {"plan_id": await planned.plan(service.scene.acme, **about)}
        served = await service.call(entry, sufficient.secret, body=sent.get("body"), query=sent.get("query"), **ids)

        assert served.status_code == next(iter(entry.described.responses)), f"{entry}: {served.text}"


async def test_a_key_reaches_no_program_but_its_own_and_cannot_tell_which_exist(service: Service):
    scene, wrong = service.scene, []
    narrowed = (await scene.acme.issue(program_ids=[scene.acme.program_id])).secret
    beside = await scene.acme.beside()
    elsewhere = (await scene.acme.issue(workspace_id=scene.globex.workspace_id)).secret
    for entry in needing("agentKey"):
        if "{program_id}" in entry.path:
            responses = [
                *[await service.call(entry, narrowed, program_id=odd) for odd in (MISSING, 10**17, "nobody")],
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
    known = {*CONTRACT["rows"]["tried"], *CONTRACT["rows"]["elsewhere"]}

    assert {entry.row for entry in needing("session") + needing("agentKey")} - {""} == known


@pytest.mark.parametrize("kind", ["session", "agentKey"])
async def test_another_program_s_row_and_a_missing_one_are_answered_alike(service: Service, kind: str):
    wrong, key = [], (await service.scene.acme.issue()).secret
    for entry in needing(kind):
        theirs = service.scene.foreign_ids.get(entry.row)
        if theirs is not None:
            credential = key if kind == "agentKey" else await service.credential("session")
            foreign = await service.call(entry, credential, **{entry.row: theirs})
            missing = await service.call(entry, credential, **{entry.row: MISSING})
            if visible_in(foreign) != visible_in(missing) or foreign.status_code not in {400, 404}:
                wrong.append(f"{entry}: {visible_in(foreign)}, {visible_in(missing)}")

    assert wrong == []


def test_every_row_of_the_security_page_and_the_whole_top_ten_names_tests_that_exist():
    assert [row for row in ROWS if not NAMED.search(row)] == []
    assert {row.split()[1] for row in ROWS if row.startswith("| API")} == {f"API{number}" for number in range(1, 11)}
    for path, name in NAMED.findall(PAGE):
        assert f"def {name}(" in (ROOT / path).read_text(encoding="utf-8"), f"{path}::{name}"
