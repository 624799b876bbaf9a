"""Invitations and reset links: they work once, for whom they are meant, and while their reason lasts."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import update

from storage import tables
from storage.access import accounts, invitations, members, sessions, workspaces
from storage.access.workspaces import MemberStatus, Role
from storage.engine import recurring
from storage.engine.audit import OPERATOR, Actor
from storage.lists.audit_log import AUDIT_LOG
from storage.rules import keys
from storage.rules.errors import Forbidden, LinkExpired, NotFound, ValidationError
from tests.storage.databases import both_databases
from tests.world import NOW, World

EVA, MAX, OLGA, NEW = "eva@acme.example", "max@acme.example", "olga@acme.example", "new@acme.example"
ABOUT: dict[str, Any] = {"actor": OPERATOR, "at": NOW}
SUSPENDED, ACTIVE = ({"status": each} for each in (MemberStatus.SUSPENDED, MemberStatus.ACTIVE))
Change = Callable[[World, int], Awaitable[Any]]


def by(owner_id: int) -> dict[str, Any]:
    return {"actor": Actor("user", str(owner_id), "owner@acme.example"), "at": NOW}


async def invite(acme: World, email: str = EVA, role: Role = Role.MEMBER, owner_id: int | None = None) -> Any:
    about = {"email": email, "role": role, **by(owner_id or acme.owner_id)}
    return await acme.store.write(invitations.invite, acme.workspace_id, **about)


async def sign_up(acme: World, token: str) -> Any:
    return await acme.store.write(invitations.sign_up, token, password_hash="a hash", at=NOW)


async def member(acme: World, email: str = EVA) -> Any:
    return await acme.store.read(members.find_member, acme.workspace_id, email)


async def add(acme: World, email: str, role: Role = Role.MEMBER, workspace_id: int | None = None) -> int:
    about: dict[str, Any] = {"email": email, "role": role, "password_hash": "an old hash", "at": NOW}
    return int(await acme.store.write(workspaces.add_member, workspace_id or acme.workspace_id, **about))


async def globex(acme: World, owner: str = "gina@globex.example") -> Any:
    """Create another workspace."""
    about: dict[str, Any] = {"owner_email": owner, "password_hash": "an old hash", "at": NOW}
    return await acme.store.write(workspaces.create, "Globex", **about)


async def reset_link(acme: World, owner_id: int, user_id: int) -> str:
    """Create a reset link as an owner of Acme."""
    about = {"owner_id": owner_id, **by(owner_id)}
    made = await acme.store.write(accounts.create_member_reset_link, acme.workspace_id, user_id, **about)
    return str(made.token)


async def opens(acme: World, token: str) -> bool:
    """Return whether a reset link sets a password; each of its two functions says the same."""
    reset = accounts.reset_password
    try:
        await acme.store.read(accounts.get_reset_email, token, at=NOW)
    except LinkExpired:
        with pytest.raises(LinkExpired):
            await acme.store.write(reset, token, "a new hash", at=NOW)
        return False
    await acme.store.write(reset, token, "a new hash", at=NOW)
    return True


async def test_a_link_creates_the_account_with_its_role_and_signs_it_in(acme: World):
    invited = await invite(acme, role=Role.OWNER)

    started = await sign_up(acme, invited.token)

    assert (await acme.store.read(sessions.identify, keys.digest(started.token), at=NOW)).email == EVA
    assert (await member(acme)).role == Role.OWNER
    log = await acme.listed(AUDIT_LOG)
    logged = [(each.action, each.actor.name) for each in log.data]
    assert logged == [("member.join", EVA), ("member.invite", "owner@acme.example")]
    assert invited.token not in str(log.data)


@both_databases
async def test_a_link_works_once_also_for_two_at_once(acme: World):
    invited = await invite(acme)

    results = await asyncio.gather(*(sign_up(acme, invited.token) for _ in range(4)), return_exceptions=True)

    assert sorted(type(each).__name__ for each in results) == ["LinkExpired", "LinkExpired", "LinkExpired", "Started"]
    assert await acme.store.read(invitations.list_invitations, acme.workspace_id, at=NOW) == []


async def test_an_invitation_ends_after_a_week_or_when_it_is_withdrawn(acme: World):
    invited, withdrawn = await invite(acme), await invite(acme, MAX)
    withdraw: Any = (invitations.withdraw, acme.workspace_id, withdrawn.invitation.id)
    late = NOW + timedelta(days=7)

    await acme.store.write(*withdraw, **by(acme.owner_id))

    with pytest.raises(LinkExpired):
        await sign_up(acme, withdrawn.token)
    with pytest.raises(NotFound):
        await acme.store.write(*withdraw, **by(acme.owner_id))
    with pytest.raises(LinkExpired):
        await acme.store.read(invitations.find, invited.token, at=late)
    assert await acme.store.read(invitations.list_invitations, acme.workspace_id, at=late) == []
    assert await acme.store.write(recurring.prune, tables.invitations, at=late) == 1


async def test_inviting_again_replaces_the_earlier_link(acme: World):
    first, second = await invite(acme), await invite(acme, EVA.upper(), Role.OWNER)

    with pytest.raises(LinkExpired):
        await acme.store.read(invitations.find, first.token, at=NOW)
    listed = await acme.store.read(invitations.list_invitations, acme.workspace_id, at=NOW)
    assert [(each.email, each.role) for each in listed] == [(EVA, Role.OWNER)]
    offer = await acme.store.read(invitations.find, second.token, at=NOW)
    assert (offer.workspace, offer.user_id) == ("Acme", None)


async def test_an_account_in_use_joins_signed_in_and_an_owner_resets_only_accounts_of_their_own_workspace(acme: World):
    theirs, own = (await globex(acme, EVA)).user_id, await add(acme, MAX)
    invited = await invite(acme)

    with pytest.raises(Forbidden):
        await sign_up(acme, invited.token)
    with pytest.raises(Forbidden):
        await acme.store.write(invitations.join, invited.token, user_id=acme.owner_id, at=NOW)
    await acme.store.write(invitations.join, invited.token, user_id=theirs, at=NOW)

    assert (await member(acme)).user_id == theirs
    assert await acme.store.read(accounts.has_password, theirs, "an old hash")
    for user_id, error in ((theirs, Forbidden), (own + 9, NotFound)):
        with pytest.raises(error):
            await reset_link(acme, acme.owner_id, user_id)
    assert await opens(acme, await reset_link(acme, acme.owner_id, own))
    assert await acme.store.read(accounts.has_password, own, "a new hash")


async def test_a_member_is_not_invited_again_and_an_account_in_no_workspace_any_more_starts_again(acme: World):
    await sign_up(acme, (await invite(acme)).token)
    joined = await member(acme)

    with pytest.raises(ValidationError):
        await invite(acme)
    await remove(acme, joined.user_id)
    await sign_up(acme, (await invite(acme)).token)

    assert (await member(acme)).user_id == joined.user_id


async def remove(acme: World, user_id: int) -> None:
    await acme.store.write(members.remove, acme.workspace_id, user_id, **ABOUT)


def change(*steps: dict[str, Any]) -> Change:
    """Return how a member is changed, step by step."""

    async def apply(acme: World, user_id: int) -> None:
        for values in steps:
            await acme.store.write(members.change, acme.workspace_id, user_id, **values, **ABOUT)

    return apply


async def hand_over(acme: World, user_id: int) -> None:
    await acme.store.write(members.transfer_ownership, acme.workspace_id, acme.owner_id, owner_id=user_id, **ABOUT)


async def lose_rights_unnoticed(acme: World, user_id: int) -> None:
    """Demote in the table alone, as a process does that does not end links."""
    mine = (tables.members.c.workspace_id == acme.workspace_id, tables.members.c.user_id == user_id)
    demoted = update(tables.members).where(*mine).values(role=Role.MEMBER)
    await acme.store.write(lambda connection: connection.execute(demoted).rowcount)


async def join_unnoticed(acme: World, user_id: int) -> None:
    about = {"workspace_id": (await globex(acme)).workspace_id, "role": Role.MEMBER, "created_at": NOW}
    added = tables.members.insert().values(user_id=user_id, **about)
    await acme.store.write(lambda connection: connection.execute(added).rowcount)


async def join_globex(acme: World, user_id: int) -> None:
    about = {"email": EVA, "role": Role.MEMBER, **ABOUT}
    made = await acme.store.write(invitations.invite, (await globex(acme)).workspace_id, **about)
    await acme.store.write(invitations.join, made.token, user_id=user_id, at=NOW)


async def be_added_to_globex(acme: World, user_id: int) -> None:  # noqa: ARG001 - Eva
    await add(acme, EVA, workspace_id=(await globex(acme)).workspace_id)


BOTH = [remove, change(SUSPENDED), change(SUSPENDED, ACTIVE)]
LOSSES = [*BOTH, change({"role": Role.MEMBER}), hand_over, lose_rights_unnoticed]
CREATED: Change = lambda acme, _: globex(acme, EVA)  # noqa: E731
CHANGES = [*BOTH, join_globex, be_added_to_globex, CREATED, join_unnoticed, change({"role": Role.OWNER})]


@pytest.mark.parametrize("change", CHANGES)
async def test_a_reset_link_ends_when_its_holders_memberships_change(acme: World, change: Change):
    eva = await add(acme, EVA)
    token = await reset_link(acme, acme.owner_id, eva)

    await change(acme, eva)

    assert not await opens(acme, token)
    assert await acme.store.read(accounts.has_password, eva, "an old hash")


@pytest.mark.parametrize("loss", LOSSES)
async def test_reset_links_and_invitations_end_when_their_creator_is_no_owner_any_more(acme: World, loss: Change):
    eva, olga = await add(acme, EVA), await add(acme, OLGA, Role.OWNER)
    token, invited = await reset_link(acme, olga, eva), await invite(acme, NEW, Role.OWNER, olga)

    await loss(acme, olga)

    assert not await opens(acme, token)
    with pytest.raises(LinkExpired):
        await sign_up(acme, invited.token)
    with pytest.raises(NotFound):
        await member(acme, NEW)


async def test_a_link_outlasts_what_happens_to_others_and_a_change_to_what_is_so_already(acme: World):
    eva, olga = await add(acme, EVA), await add(acme, OLGA, Role.OWNER)
    invited, token = await invite(acme, NEW, Role.OWNER), await reset_link(acme, acme.owner_id, eva)

    await remove(acme, olga)
    await change({"role": Role.MEMBER})(acme, eva)
    await globex(acme, owner="owner@acme.example")

    assert await opens(acme, token)
    assert (await acme.store.read(invitations.find, invited.token, at=NOW)).email == NEW


async def test_the_operators_link_needs_no_owner_and_ends_with_a_change_of_memberships(acme: World):
    eva = await add(acme, EVA)
    await add(acme, EVA, workspace_id=(await globex(acme)).workspace_id)
    first = await acme.store.write(accounts.create_reset_link, eva, **ABOUT)

    assert await opens(acme, first.token)
    second = await acme.store.write(accounts.create_reset_link, eva, **ABOUT)
    await remove(acme, eva)
    assert not await opens(acme, second.token)
