"""Reset links: they last while their reason does, and prove an address only if its mailbox alone received them."""

from datetime import timedelta
from typing import Any

import pytest

from storage.access import accounts, invitations, members, workspaces
from storage.access.workspaces import MemberStatus, Role
from storage.lists.audit_log import AUDIT_LOG
from storage.rules.errors import (
    LinkExpired,
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


async def change(acme: World, user_id: int, **values: Any) -> None:
    await acme.store.write(members.change, acme.workspace_id, user_id, **values, **ABOUT)


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
    await change(acme, olga, status=MemberStatus.SUSPENDED)
    assert not await opens(acme, await reset_link(acme, acme.owner_id, olga))
    await change(acme, olga, status=MemberStatus.ACTIVE)
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


async def test_a_link_outlasts_what_happens_to_others_and_a_change_to_what_is_so_already(acme: World):
    eva, olga = await add(acme, EVA), await add(acme, OLGA, Role.OWNER)
    invited, token = await invite(acme, NEW, Role.OWNER), await reset_link(acme, acme.owner_id, eva)

    await remove(acme, olga)
    await change(acme, eva, role=Role.MEMBER)
    await globex(acme, owner="owner@acme.example")

    assert await opens(acme, token)
    assert (await acme.store.read(invitations.find, invited.token, at=NOW)).email == NEW
