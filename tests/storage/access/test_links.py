"""Invitations and reset links: each works once, for whom it is meant, while its reason lasts, and revives nothing."""

import asyncio
from datetime import timedelta
from functools import partial
from typing import Any

import pyotp
import pytest
from sqlalchemy import update

from storage import tables
from storage.access import accounts, invitations, second_factors, sessions, workspaces
from storage.access.workspaces import MemberStatus, Role
from storage.engine import recurring
from storage.engine.audit import OPERATOR, SERVICE, By
from storage.lists.audit_log import AUDIT_LOG
from storage.rules import errors, keys
from tests.storage.access import links
from tests.storage.access.links import EVA, MAX, NEW, OLGA, add, by, change, invite, member, opens, remove
from tests.world import BY, NOW, SEALER, World


@pytest.mark.both_databases
async def test_a_link_creates_the_account_with_its_role_and_signs_it_in_once_also_for_several_at_once(acme: World):
    invited = await invite(acme, role=Role.OWNER)

    sent = [links.sign_up(acme, invited.token) for _ in range(4)]
    results: list[Any] = await asyncio.gather(*sent, return_exceptions=True)
    started, *late = sorted(results, key=lambda each: isinstance(each, Exception))

    assert [type(each) for each in late] == [errors.LinkExpired] * 3
    assert (await acme.store.read(sessions.identify, keys.digest(started.token), at=NOW)).email == EVA
    assert (await member(acme)).role == Role.OWNER
    log = await acme.listed(AUDIT_LOG)
    logged = [(each.action, each.actor.name) for each in log.data]
    assert logged == [("member.join", EVA), ("member.invite", "owner@acme.example")]
    assert invited.token not in str(log.data)
    assert await acme.store.read(invitations.list_invitations, acme.workspace_id, at=NOW) == []


async def test_an_invitation_ends_after_a_week_or_when_it_is_withdrawn(acme: World):
    invited, withdrawn = await invite(acme), await invite(acme, MAX)
    write: Any = acme.store.write
    withdraw = partial(write, invitations.withdraw, acme.workspace_id, withdrawn.invitation.id)
    late = NOW + timedelta(days=7)

    await withdraw(by=by(acme.owner_id))

    with pytest.raises(errors.LinkExpired):
        await links.sign_up(acme, withdrawn.token)
    with pytest.raises(errors.NotFound):
        await withdraw(by=by(acme.owner_id))
    with pytest.raises(errors.LinkExpired):
        await acme.store.read(invitations.find, invited.token, at=late)
    assert await acme.store.read(invitations.list_invitations, acme.workspace_id, at=late) == []
    assert await acme.store.write(recurring.prune, tables.invitations, at=late) == 1


async def test_an_account_in_use_joins_signed_in_and_an_owner_resets_only_accounts_of_their_own_workspace(acme: World):
    theirs, own = (await links.globex(acme, EVA))[1], await add(acme, MAX)
    invited = await invite(acme)

    with pytest.raises(errors.Forbidden):
        await links.sign_up(acme, invited.token)
    with pytest.raises(errors.Forbidden):
        await acme.store.write(invitations.join, invited.token, user_id=acme.owner_id, at=NOW)
    await acme.store.write(invitations.join, invited.token, user_id=theirs, at=NOW)

    assert (await member(acme)).user_id == theirs
    assert await acme.store.read(accounts.find_hash, EVA) == "an old hash"
    for user_id in (theirs, own + 9):
        with pytest.raises(errors.Forbidden):
            await links.reset_link(acme, acme.owner_id, user_id)
    assert await opens(acme, await links.reset_link(acme, acme.owner_id, own))
    assert await acme.store.read(accounts.find_hash, MAX) == "a new hash"


async def test_an_account_in_no_workspace_any_more_starts_again_with_its_second_factor_and_no_old_session(acme: World):
    first = await links.sign_up(acme, (await invite(acme)).token)
    joined = await member(acme)
    app = pyotp.TOTP((await acme.store.write(second_factors.enrol, joined.user_id, email=EVA, sealer=SEALER)).secret)
    by_her = By(OPERATOR, NOW - timedelta(hours=1))
    codes = await acme.store.write(second_factors.confirm, joined.user_id, app.at(by_her.at), sealer=SEALER, by=by_her)

    with pytest.raises(errors.ValidationError):
        await invite(acme)
    await remove(acme, joined.user_id)
    invited = await invite(acme)
    token = invited.token
    with pytest.raises(errors.ValidationError):  # who invites it does not get it
        await links.sign_up(acme, token, codes[1], "another hash")
    for code, error in ((None, errors.SecondFactorRequired), ("000000", errors.InvalidSecondFactor)):
        with pytest.raises(error):
            await links.sign_up(acme, token, code)
    await links.sign_up(acme, token, codes[0])

    assert (await member(acme)).user_id == joined.user_id
    await remove(acme, joined.user_id)
    await links.sign_up(acme, (await invite(acme)).mailed_token, codes[1], "another hash")
    assert await acme.store.read(accounts.find_hash, EVA) == "another hash"
    with pytest.raises(errors.Forbidden):
        await acme.store.read(sessions.identify, keys.digest(first.token), at=NOW)


async def test_a_new_workspace_is_not_given_to_a_password_that_its_owner_did_not_choose(acme: World):
    await links.sign_up(acme, (await invite(acme)).token)  # by who invited, who chose the password
    about: dict[str, Any] = {"owner_email": EVA, "at": NOW}

    with pytest.raises(errors.ValidationError):
        await acme.store.write(workspaces.create, "Globex", password_hash="another hash", **about)
    for new in ({"password_hash": "a hash"}, {"password_hash": "another hash", "takes_existing": True}):
        await acme.store.write(workspaces.create, "Globex", **new, **about)


async def test_an_address_is_proven_by_a_link_that_its_mailbox_alone_received(acme: World):
    async def is_proven(email: str = EVA) -> bool:
        return bool((await member(acme, email)).is_email_proven)

    invited = await invite(acme)
    await links.sign_up(acme, f"{invited.token}.guessed")
    seen = [await is_proven()]
    mailed = await acme.store.write(accounts.create_reset_link, EVA.upper(), by=By(SERVICE, NOW))
    assert await opens(acme, mailed.token)
    seen.append(await is_proven())
    assert await opens(acme, await links.reset_link(acme, acme.owner_id, (await member(acme)).user_id))
    await links.sign_up(acme, (await invite(acme, MAX)).mailed_token)

    assert [*seen, await is_proven(), await is_proven(MAX)] == [False, True, False, True]


async def test_asking_for_a_link_ends_no_other_and_fills_no_log(acme: World):
    eva = await add(acme, EVA)
    given = await links.reset_link(acme, acme.owner_id, eva)
    first, _ = [(await acme.store.write(accounts.create_reset_link, EVA, by=By(SERVICE, NOW))).token for _ in range(2)]

    log = [each.action for each in (await acme.listed(AUDIT_LOG)).data]
    assert log == ["account.reset_link"]
    assert await links.whose(acme, given) == EVA
    assert await opens(acme, first)
    assert not await opens(acme, given)


async def test_an_owners_link_for_another_owner_works_a_day_later(acme: World):
    olga = await add(acme, OLGA, Role.OWNER)
    await change(acme, olga, status=MemberStatus.SUSPENDED)
    assert not await opens(acme, await links.reset_link(acme, acme.owner_id, olga))
    await change(acme, olga, status=MemberStatus.ACTIVE)
    token = await links.reset_link(acme, acme.owner_id, olga)

    assert not await opens(acme, token)
    for hours, works in ((23, False), (24, True), (47, True), (48, False)):
        assert await links.whose(acme, token, NOW + timedelta(hours=hours)) == (OLGA if works else "")
    await acme.store.write(accounts.set_password, olga, "her hash", by=BY)
    with pytest.raises(errors.LinkExpired):
        await acme.store.write(accounts.reset_password, token, "a new hash", at=NOW + timedelta(hours=25))


async def test_a_link_outlasts_what_happens_to_others_and_a_change_to_what_is_so_already(acme: World):
    eva, olga = await add(acme, EVA), await add(acme, OLGA, Role.OWNER)
    invited, token = await invite(acme, NEW, Role.OWNER), await links.reset_link(acme, acme.owner_id, eva)

    await remove(acme, olga)
    await change(acme, eva, role=Role.MEMBER)
    await links.globex(acme, owner="owner@acme.example")

    assert await opens(acme, token)
    assert (await acme.store.read(invitations.find, invited.token, at=NOW)).email == NEW


async def test_links_end_with_the_rights_of_their_creator_and_do_not_come_back_with_them(acme: World):
    eva, olga = await add(acme, EVA), await add(acme, OLGA, Role.OWNER)
    token, invited = await links.reset_link(acme, olga, eva), await invite(acme, NEW, Role.OWNER, olga)
    for role in (Role.MEMBER, Role.OWNER):
        await change(acme, olga, role=role)

    assert not await opens(acme, token)
    with pytest.raises(errors.LinkExpired):
        await links.sign_up(acme, invited.token)
    later = await links.reset_link(acme, olga, eva)
    unnoticed = update(tables.members).where(tables.members.c.user_id == olga).values(role=Role.MEMBER)
    await acme.store.write(lambda connection: connection.execute(unnoticed).rowcount)
    assert not await opens(acme, later)
