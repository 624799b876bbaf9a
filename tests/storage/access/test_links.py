"""Links that owners create, on both databases: they work while their reason lasts."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from sqlalchemy import update

from storage.access import accounts, invitations, members, workspaces
from storage.access.workspaces import MemberStatus, Role
from storage.engine.audit import OPERATOR, Actor
from storage.rules.errors import LinkExpired, NotFound
from storage.tables import members as memberships
from tests.world import NOW, World

EVA, OLGA, NEW, GINA = "eva@acme.example", "olga@acme.example", "new@acme.example", "gina@globex.example"
ABOUT: dict[str, Any] = {"actor": OPERATOR, "at": NOW}
Change = Callable[[World, int], Awaitable[Any]]


async def add(acme: World, email: str, role: Role = Role.MEMBER, workspace_id: int | None = None) -> int:
    about = {"email": email, "role": role, "password_hash": "an old hash", "at": NOW}
    user_id: int = await acme.store.write(workspaces.add_member, workspace_id or acme.workspace_id, **about)
    return user_id


async def globex(acme: World, owner: str = GINA) -> int:
    """Create another workspace."""
    about = {"owner_email": owner, "password_hash": "an old hash", "at": NOW}
    made: workspaces.Created = await acme.store.write(workspaces.create, "Globex", **about)
    return made.workspace_id


async def reset_link(acme: World, owner_id: int, user_id: int) -> str:
    """Create a reset link as an owner of Acme."""
    about = {"owner_id": owner_id, "actor": Actor("user", str(owner_id), OLGA), "at": NOW}
    made = await acme.store.write(accounts.create_member_reset_link, acme.workspace_id, user_id, **about)
    return str(made.token)


async def invitation(acme: World, owner_id: int) -> str:
    """Invite a new person as an owner of Acme."""
    about = {"email": NEW, "role": Role.OWNER, "actor": Actor("user", str(owner_id), OLGA), "at": NOW}
    made = await acme.store.write(invitations.invite, acme.workspace_id, **about)
    return str(made.token)


async def opens(acme: World, token: str) -> bool:
    """Return whether a reset link sets a password; each of its two functions says the same."""
    try:
        await acme.store.read(accounts.get_reset_email, token, at=NOW)
    except LinkExpired:
        with pytest.raises(LinkExpired):
            await acme.store.write(accounts.reset_password, token, "a new hash", at=NOW)
        return False
    await acme.store.write(accounts.reset_password, token, "a new hash", at=NOW)
    return True


async def remove(acme: World, user_id: int) -> None:
    await acme.store.write(members.remove, acme.workspace_id, user_id, **ABOUT)


async def suspend(acme: World, user_id: int) -> None:
    await acme.store.write(members.change, acme.workspace_id, user_id, status=MemberStatus.SUSPENDED, **ABOUT)


async def suspend_and_reactivate(acme: World, user_id: int) -> None:
    await suspend(acme, user_id)
    await acme.store.write(members.change, acme.workspace_id, user_id, status=MemberStatus.ACTIVE, **ABOUT)


async def make_member(acme: World, user_id: int) -> None:
    await acme.store.write(members.change, acme.workspace_id, user_id, role=Role.MEMBER, **ABOUT)


async def make_owner(acme: World, user_id: int) -> None:
    await acme.store.write(members.change, acme.workspace_id, user_id, role=Role.OWNER, **ABOUT)


async def hand_over(acme: World, user_id: int) -> None:
    about = {"owner_id": user_id, **ABOUT}
    await acme.store.write(members.transfer_ownership, acme.workspace_id, acme.owner_id, **about)


async def lose_rights_unnoticed(acme: World, user_id: int) -> None:
    """Demote in the table alone, as a process does that does not end links."""
    mine = (memberships.c.workspace_id == acme.workspace_id, memberships.c.user_id == user_id)
    demoted = update(memberships).where(*mine).values(role=Role.MEMBER)
    await acme.store.write(lambda connection: connection.execute(demoted).rowcount)


async def join_globex(acme: World, user_id: int) -> None:
    workspace_id = await globex(acme)
    about = {"email": EVA, "role": Role.MEMBER, "at": NOW}
    made = await acme.store.write(invitations.invite, workspace_id, actor=OPERATOR, **about)
    await acme.store.write(invitations.join, made.token, user_id=user_id, at=NOW)


async def be_added_to_globex(acme: World, user_id: int) -> None:  # noqa: ARG001 - Eva
    await add(acme, EVA, workspace_id=await globex(acme))


async def create_globex(acme: World, user_id: int) -> None:  # noqa: ARG001 - Eva
    await globex(acme, owner=EVA)


LOSSES = [remove, suspend, suspend_and_reactivate, make_member, hand_over, lose_rights_unnoticed]
CHANGES = [join_globex, be_added_to_globex, create_globex, remove, suspend, suspend_and_reactivate, make_owner]


@pytest.mark.parametrize("change", CHANGES)
async def test_a_reset_link_ends_when_its_holders_memberships_change(acme: World, change: Change):
    eva = await add(acme, EVA)
    token = await reset_link(acme, acme.owner_id, eva)

    await change(acme, eva)

    assert not await opens(acme, token)
    assert await acme.store.read(accounts.has_password, eva, "an old hash")


@pytest.mark.parametrize("loss", LOSSES)
async def test_a_reset_link_ends_when_its_creator_loses_the_right_to_create_it(acme: World, loss: Change):
    eva, olga = await add(acme, EVA), await add(acme, OLGA, Role.OWNER)
    token = await reset_link(acme, olga, eva)

    await loss(acme, olga)

    assert not await opens(acme, token)


@pytest.mark.parametrize("loss", LOSSES)
async def test_an_invitation_ends_when_its_creator_is_no_owner_any_more(acme: World, loss: Change):
    olga = await add(acme, OLGA, Role.OWNER)
    token = await invitation(acme, olga)

    await loss(acme, olga)

    with pytest.raises(LinkExpired):
        await acme.store.write(invitations.sign_up, token, password_hash="a hash", at=NOW)
    with pytest.raises(NotFound):
        await acme.store.read(members.find_member, acme.workspace_id, NEW)


async def test_a_membership_that_a_process_adds_without_ending_links_is_seen_when_the_link_is_used(acme: World):
    eva, workspace_id = await add(acme, EVA), await globex(acme)
    token = await reset_link(acme, acme.owner_id, eva)
    row = {"workspace_id": workspace_id, "user_id": eva, "role": Role.MEMBER, "created_at": NOW}

    await acme.store.write(lambda connection: connection.execute(memberships.insert().values(**row)).rowcount)

    assert not await opens(acme, token)


async def test_a_link_outlasts_what_happens_to_others_and_a_change_to_what_is_so_already(acme: World):
    eva, olga = await add(acme, EVA), await add(acme, OLGA, Role.OWNER)
    invited = await invitation(acme, acme.owner_id)
    token = await reset_link(acme, acme.owner_id, eva)

    await remove(acme, olga)
    await make_member(acme, eva)
    await globex(acme, owner="owner@acme.example")

    assert await opens(acme, token)
    assert (await acme.store.read(invitations.find, invited, at=NOW)).email == NEW


async def test_the_operators_link_needs_no_owner_and_ends_with_a_change_of_memberships(acme: World):
    eva = await add(acme, EVA)
    await add(acme, EVA, workspace_id=await globex(acme))
    first = await acme.store.write(accounts.create_reset_link, eva, **ABOUT)

    assert await opens(acme, first.token)
    second = await acme.store.write(accounts.create_reset_link, eva, **ABOUT)
    await remove(acme, eva)
    assert not await opens(acme, second.token)
