"""Connected assistants: granted by a member, seen and ended by them and by owners."""

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest

import background
from storage import tables
from storage.access import accounts, assistants, sessions
from storage.engine.audit import By
from storage.lists.audit_log import AUDIT_LOG
from storage.rules import keys
from storage.rules.errors import InsufficientScope, InvalidKey, NotFound, ProgramNotAllowed, ValidationError
from storage.rules.scope import READING, Scope
from tests import world
from tests.world import NOW, World, stored

RESOURCE = "https://track.example/mcp"
ASKED = assistants.AuthorizationRequest(
    client_id="https://assistant.example/client.json",
    name="Helper",
    host="assistant.example",
    redirect_uri="https://assistant.example/callback?a=1",
    scopes=READING,
    resource=RESOURCE,
    code_challenge="c" * 43,
    state="s&t",
)


async def visitor(acme: World, email: str = "max@acme.example", workspace_id: int | None = None) -> sessions.Visitor:
    """Add somebody to Acme, or to another workspace, and sign them in."""
    there = replace(acme, workspace_id=workspace_id or acme.workspace_id)
    return await signed_in(acme, await there.join(email))


async def signed_in(acme: World, user_id: int) -> sessions.Visitor:
    return await acme.store.read(sessions.identify, keys.digest(await acme.sign_in(user_id)), at=NOW)


async def connect(acme: World, who: sessions.Visitor, *program_ids: int, **asked: Any) -> str:
    about: dict[str, Any] = {"visitor": who, "program_ids": program_ids or (acme.program_id,), "at": NOW}
    return str(await acme.store.write(assistants.connect, ASKED._replace(**asked), **about))


async def exchange(acme: World, code: str, at: datetime = NOW) -> Any:
    return await acme.store.write(assistants.exchange, code, assistants.CODE, client_id=ASKED.client_id, at=at)


async def tokens(acme: World, who: sessions.Visitor, *program_ids: int, **asked: Any) -> Any:
    return await exchange(acme, await connect(acme, who, *program_ids, **asked))


async def authorize(acme: World, token: str, **about: Any) -> assistants.Assistant:
    about = {"resource": RESOURCE, "scope": None, "program_id": None, "at": NOW, **about}
    return await acme.store.read(assistants.authorize, token, **about)


async def refresh(acme: World, token: str, **about: Any) -> Any:
    about = {"client_id": ASKED.client_id, "scopes": READING, "at": NOW, **about}
    return await acme.store.write(assistants.exchange, token, assistants.REFRESH, **about)


async def audited(acme: World) -> list[tuple[str, str]]:
    found = await acme.listed(AUDIT_LOG)
    return [(entry.action, entry.actor.name) for entry in found.data if entry.action.startswith("assistant.")]


async def test_a_new_password_ends_the_assistants_of_the_account_unless_it_keeps_them(acme: World):
    who = await visitor(acme)
    mine, others = await tokens(acme, who), await tokens(acme, await visitor(acme, "eva@acme.example"))
    by = By(who.actor, NOW)

    await acme.store.write(accounts.set_password, who.user_id, "a hash", keeps_assistants=True, by=by)
    await authorize(acme, mine.access)
    await acme.store.write(accounts.set_password, who.user_id, "another hash", by=by)

    with pytest.raises(InvalidKey):
        await authorize(acme, mine.access)
    await authorize(acme, others.access)


async def test_a_token_reads_what_was_granted_for_a_quarter_of_an_hour(acme: World):
    given = await tokens(acme, await visitor(acme), scopes=(Scope.PROGRAMS_READ,))
    later = NOW + timedelta(minutes=15)

    granted = await authorize(acme, given.access, scope=Scope.PROGRAMS_READ, program_id=acme.program_id)

    reach = (granted.workspace_id, granted.program_ids, granted.name)
    assert reach == (acme.workspace_id, (acme.program_id,), "Helper")
    with pytest.raises(InsufficientScope) as beyond:
        await authorize(acme, given.access, scope=Scope.EVENTS_READ)
    assert beyond.value.details["granted_scopes"] == (Scope.PROGRAMS_READ,)
    with pytest.raises(ProgramNotAllowed):
        await authorize(acme, given.access, program_id=acme.program_id + 1)
    for wrong in ({"resource": "https://other.example/mcp"}, {"at": later}):
        with pytest.raises(InvalidKey):
            await authorize(acme, given.access, **wrong)


async def test_a_code_is_good_for_two_minutes_a_refresh_token_once_for_thirty_days_and_its_reuse_ends_all(acme: World):
    code = await connect(acme, await visitor(acme))
    late, first = await exchange(acme, code, NOW + timedelta(minutes=2)), await exchange(acme, code)
    day_29, day_60 = NOW + timedelta(days=29), NOW + timedelta(days=60)

    second = await refresh(acme, first.refresh, at=day_29)
    third = await refresh(acme, second.refresh, scopes=["programs:read"], at=day_29)
    narrowed = await authorize(acme, third.access, at=day_29)
    expired = await refresh(acme, third.refresh, at=day_60)
    reused = await refresh(acme, second.refresh, at=day_29)

    assert narrowed.scopes == third.scopes == (Scope.PROGRAMS_READ,)
    assert (late, expired, reused) == (None, None, None)
    assert await refresh(acme, third.refresh, at=day_29) is None
    assert await audited(acme) == [("assistant.refresh_reuse", "Helper"), ("assistant.connect", "max@acme.example")]


async def test_the_tokens_of_a_suspended_member_stop_working_and_none_is_stored(acme: World):
    given = await tokens(acme, await visitor(acme))
    rows = str(await stored(acme, tables.assistant_tokens))
    await world.suspend(acme.store, acme.workspace_id, "max@acme.example")

    rejected = await refresh(acme, given.refresh)

    assert rejected is None
    assert not any(secret in rows for secret in given[:2])
    assert keys.digest(given.access) in rows
    with pytest.raises(InvalidKey):
        await authorize(acme, given.access)


async def test_a_member_sees_and_disconnects_their_own_and_an_owner_all(acme: World):
    mine, theirs = await visitor(acme), await visitor(acme, "ida@acme.example")
    owner = await signed_in(acme, acme.owner_id)
    given, other = await tokens(acme, mine), await tokens(acme, theirs)
    seen = [await acme.store.read(assistants.list_assistants, who, at=NOW) for who in (mine, theirs, owner)]
    (my_own,), (their_own,) = seen[0], seen[1]

    with pytest.raises(NotFound):
        await acme.store.write(assistants.disconnect, their_own.id, visitor=mine, at=NOW)
    await acme.store.write(assistants.disconnect, my_own.id, visitor=mine, at=NOW)
    await acme.store.write(assistants.disconnect, their_own.id, visitor=owner, at=NOW)

    assert {each.email for each in seen[2]} == {"max@acme.example", "ida@acme.example"}
    assert await acme.store.read(assistants.list_assistants, owner, at=NOW) == []
    for token in (given.access, other.access):
        with pytest.raises(InvalidKey):
            await authorize(acme, token)
    assert [action for action, _ in await audited(acme)].count("assistant.disconnect") == 2


async def test_programs_are_of_one_workspace_that_the_member_is_in(acme: World):
    who, other = await visitor(acme), await world.globex(acme.store)
    theirs = other.program_id
    for workspace_id in (other.workspace_id, acme.workspace_id):
        ida = await visitor(acme, "ida@globex.example", workspace_id)

    for somebody, chosen in ((who, [theirs]), (who, []), (who, [999]), (ida, [acme.program_id, theirs])):
        with pytest.raises(ValidationError):
            await acme.store.write(assistants.connect, ASKED, visitor=somebody, program_ids=chosen, at=NOW)
    assert await connect(acme, ida, theirs)


async def test_housekeeping_deletes_expired_rows_and_unused_clients(acme: World):
    given = await tokens(acme, await visitor(acme))
    for client_id in (ASKED.client_id, "unused"):
        await acme.store.write(assistants.save_client, client_id, "Helper", [ASKED.redirect_uri], NOW)
    await connect(acme, await visitor(acme, "ida@acme.example"))
    week, month = NOW + timedelta(days=7), NOW + timedelta(days=31)

    for at in (week, month):
        await background.keep_house(acme.store, at=at)
    owner = await signed_in(acme, acme.owner_id)

    assert await acme.store.read(assistants.list_assistants, owner, at=NOW) == []
    assert await acme.store.read(assistants.find_client, "unused") is None
    assert await acme.store.read(assistants.find_client, ASKED.client_id) is not None
    assert await refresh(acme, given.refresh) is None
