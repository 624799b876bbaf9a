"""Reset links: they last while their reason does, and prove an address only if its mailbox alone received them."""

from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import update

from storage import tables
from storage.access import accounts, invitations, members, workspaces
from storage.access.workspaces import MemberStatus, Role
from storage.lists.audit_log import AUDIT_LOG
from storage.rules.errors import (
    LinkExpired,
    NotFound,
    ValidationError,
)
from tests.storage.access.links import (
    ABOUT,
    EVA,
    MAX,
    NEW,
    OLGA,
    add,
    globex,
    invite,
    member,
    opens,
    remove,
    reset_link,
    sign_up,
)
from tests.world import NOW, World

SUSPENDED, ACTIVE = ({"status": each} for each in (MemberStatus.SUSPENDED, MemberStatus.ACTIVE))
Change = Callable[[World, int], Awaitable[Any]]


async def test_a_new_workspace_is_not_given_to_a_password_that_its_owner_did_not_choose(acme: World):
    await sign_up(acme, (await invite(acme)).token)  # by who invited, who chose the password
    about: dict[str, Any] = {"owner_email": EVA, "at": NOW}

    with pytest.raises(ValidationError):
        await acme.store.write(workspaces.create, "Globex", password_hash="another hash", **about)
    for new in ({"password_hash": "a hash"}, {"password_hash": "another hash", "takes_existing": True}):
        await acme.store.write(workspaces.create, "Globex", **new, **about)


async def test_an_address_is_proven_by_a_link_that_its_mailbox_alone_received(acme: World):
    async def is_proven(email: str = EVA) -> bool:
        return bool((await member(acme, email)).is_email_proven)

    invited = await invite(acme)
    await sign_up(acme, f"{invited.token}.guessed")
    seen = [await is_proven()]
    mailed = await acme.store.write(accounts.create_mailed_link, EVA.upper(), at=NOW)
    assert await opens(acme, mailed.token)
    seen.append(await is_proven())
    assert await opens(acme, await reset_link(acme, acme.owner_id, (await member(acme)).user_id))
    await sign_up(acme, (await invite(acme, MAX)).mailed_token)

    assert [*seen, await is_proven(), await is_proven(MAX)] == [False, True, False, True]


async def test_asking_for_a_link_ends_no_other_and_fills_no_log(acme: World):
    eva = await add(acme, EVA)
    given, first, _ = (
        await reset_link(acme, acme.owner_id, eva),
        *[(await acme.store.write(accounts.create_mailed_link, EVA, at=NOW)).token for _ in range(2)],
    )

    log = [each.action for each in (await acme.listed(AUDIT_LOG)).data]
    assert log == ["account.reset_link"]
    assert await acme.store.read(accounts.get_reset_email, given, at=NOW) == EVA
    assert await opens(acme, first)
    assert not await opens(acme, given)


async def test_an_owners_link_for_another_owner_works_a_day_later(acme: World):
    olga = await add(acme, OLGA, Role.OWNER)
    await change(SUSPENDED)(acme, olga)
    assert not await opens(acme, await reset_link(acme, acme.owner_id, olga))
    await change(ACTIVE)(acme, olga)
    token = await reset_link(acme, acme.owner_id, olga)

    assert not await opens(acme, token)
    for hours, works in ((23, False), (24, True), (47, True), (48, False)):
        late = NOW + timedelta(hours=hours)
        try:
            email = await acme.store.read(accounts.get_reset_email, token, at=late)
        except LinkExpired:
            email = ""
        assert email == (OLGA if works else "")
    await acme.store.write(accounts.set_password, olga, "her hash", **ABOUT)
    with pytest.raises(LinkExpired):
        await acme.store.write(accounts.reset_password, token, "a new hash", at=NOW + timedelta(hours=25))


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
