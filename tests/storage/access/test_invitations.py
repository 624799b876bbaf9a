"""Invitations: a link makes the invited person a member, once."""

import asyncio
from datetime import timedelta

import pytest

from storage.access import accounts, invitations, members, sessions, workspaces
from storage.access.accounts import ResetLink
from storage.access.invitations import Invitation, NewInvitation, Offer
from storage.access.members import MemberRecord
from storage.access.sessions import Started
from storage.access.workspaces import Role
from storage.engine import audit
from storage.engine.audit import Actor
from storage.rules import keys
from storage.rules.errors import Forbidden, LinkExpired, NotFound, ValidationError
from tests.storage.databases import both_databases
from tests.world import NOW, World

EVA = "eva@acme.example"


def owner(acme: World) -> Actor:
    return Actor("user", str(acme.owner_id), "owner@acme.example")


async def invite(acme: World, email: str = EVA, role: Role = Role.MEMBER) -> NewInvitation:
    made: NewInvitation = await acme.store.write(
        invitations.invite, acme.workspace_id, email=email, role=role, actor=owner(acme), at=NOW
    )
    return made


async def sign_up(acme: World, token: str) -> Started:
    started: Started = await acme.store.write(invitations.sign_up, token, password_hash="a hash", at=NOW)
    return started


async def member(acme: World, email: str = EVA) -> MemberRecord:
    found: MemberRecord = await acme.store.read(members.find_member, acme.workspace_id, email)
    return found


async def other_workspace(acme: World) -> workspaces.Created:
    made: workspaces.Created = await acme.store.write(
        workspaces.create, "Globex", owner_email=EVA, password_hash="their own hash", at=NOW
    )
    return made


async def test_a_link_creates_the_account_with_its_role_and_signs_it_in(acme: World):
    invited = await invite(acme, role=Role.OWNER)

    started = await sign_up(acme, invited.token)

    assert (await acme.store.read(sessions.identify, keys.digest(started.token), at=NOW)).email == EVA
    assert (await member(acme)).role == Role.OWNER
    log = await acme.store.read(audit.list_entries, acme.program_id)
    assert [(each.action, each.actor.name) for each in log.data] == [
        ("member.join", EVA),
        ("member.invite", "owner@acme.example"),
    ]
    assert invited.token not in str(log.data)


@both_databases
async def test_a_link_works_once_also_for_two_at_once(acme: World):
    invited = await invite(acme)

    results = await asyncio.gather(*(sign_up(acme, invited.token) for _ in range(4)), return_exceptions=True)

    assert sorted(type(each).__name__ for each in results) == ["LinkExpired", "LinkExpired", "LinkExpired", "Started"]
    assert await acme.store.read(invitations.list_invitations, acme.workspace_id, at=NOW) == []


async def test_an_invitation_ends_after_a_week_or_when_it_is_withdrawn(acme: World):
    invited, withdrawn = await invite(acme), await invite(acme, "max@acme.example")
    withdraw = (invitations.withdraw, acme.workspace_id, withdrawn.invitation.id)
    late = NOW + timedelta(days=7)

    await acme.store.write(*withdraw, actor=owner(acme), at=NOW)

    with pytest.raises(LinkExpired):
        await sign_up(acme, withdrawn.token)
    with pytest.raises(NotFound):
        await acme.store.write(*withdraw, actor=owner(acme), at=NOW)
    with pytest.raises(LinkExpired):
        await acme.store.read(invitations.find, invited.token, at=late)
    assert await acme.store.read(invitations.list_invitations, acme.workspace_id, at=late) == []
    assert await acme.store.write(invitations.prune, at=late) == 1


async def test_inviting_again_replaces_the_earlier_link(acme: World):
    first, second = await invite(acme), await invite(acme, EVA.upper(), Role.OWNER)

    with pytest.raises(LinkExpired):
        await acme.store.read(invitations.find, first.token, at=NOW)
    listed: list[Invitation] = await acme.store.read(invitations.list_invitations, acme.workspace_id, at=NOW)
    assert [(each.email, each.role) for each in listed] == [(EVA, Role.OWNER)]
    offer: Offer = await acme.store.read(invitations.find, second.token, at=NOW)
    assert (offer.workspace, offer.user_id) == ("Acme", None)


async def test_an_account_in_use_joins_when_it_is_signed_in_and_keeps_its_password(acme: World):
    globex = await other_workspace(acme)
    invited = await invite(acme)

    with pytest.raises(Forbidden):
        await sign_up(acme, invited.token)
    with pytest.raises(Forbidden):
        await acme.store.write(invitations.join, invited.token, user_id=acme.owner_id, at=NOW)
    await acme.store.write(invitations.join, invited.token, user_id=globex.user_id, at=NOW)

    assert (await member(acme)).user_id == globex.user_id
    assert await acme.store.read(accounts.has_password, globex.user_id, "their own hash")


async def test_an_owner_creates_a_link_for_a_member_of_their_own_workspace_alone(acme: World):
    async def link(user_id: int) -> ResetLink:
        about = {"owner_id": acme.owner_id, "actor": owner(acme), "at": NOW}
        made: ResetLink = await acme.store.write(accounts.create_member_reset_link, acme.workspace_id, user_id, **about)
        return made

    globex = await other_workspace(acme)
    await acme.store.write(invitations.join, (await invite(acme)).token, user_id=globex.user_id, at=NOW)
    await sign_up(acme, (await invite(acme, "max@acme.example")).token)
    own = (await member(acme, "max@acme.example")).user_id

    with pytest.raises(Forbidden):
        await link(globex.user_id)
    with pytest.raises(NotFound):
        await link(own + 9)
    await acme.store.write(accounts.reset_password, (await link(own)).token, "another hash", at=NOW)
    assert await acme.store.read(accounts.has_password, own, "another hash")


async def test_a_member_is_not_invited_again_and_an_account_in_no_workspace_any_more_starts_again(acme: World):
    await sign_up(acme, (await invite(acme)).token)
    joined = await member(acme)

    with pytest.raises(ValidationError):
        await invite(acme)
    await acme.store.write(members.remove, acme.workspace_id, joined.user_id, actor=owner(acme), at=NOW)
    await sign_up(acme, (await invite(acme)).token)

    assert (await member(acme)).user_id == joined.user_id
