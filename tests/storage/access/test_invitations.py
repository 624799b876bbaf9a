"""Invitations: they work once, for whom they are meant, and bring nothing back."""

import asyncio
from datetime import timedelta
from typing import Any

import pyotp
import pytest

from storage import tables
from storage.access import accounts, invitations, second_factors, sessions
from storage.access.workspaces import Role
from storage.engine import recurring
from storage.engine.audit import OPERATOR
from storage.lists.audit_log import AUDIT_LOG
from storage.rules import keys
from storage.rules.errors import (
    Forbidden,
    InvalidSecondFactor,
    LinkExpired,
    NotFound,
    SecondFactorRequired,
    ValidationError,
)
from tests.storage.access.links import (
    EVA,
    MAX,
    SEALER,
    add,
    by,
    globex,
    invite,
    member,
    opens,
    remove,
    reset_link,
    sign_up,
)
from tests.storage.databases import both_databases
from tests.world import NOW, World


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


async def test_an_account_in_use_joins_signed_in_and_an_owner_resets_only_accounts_of_their_own_workspace(acme: World):
    theirs, own = (await globex(acme, EVA)).user_id, await add(acme, MAX)
    invited = await invite(acme)

    with pytest.raises(Forbidden):
        await sign_up(acme, invited.token)
    with pytest.raises(Forbidden):
        await acme.store.write(invitations.join, invited.token, user_id=acme.owner_id, at=NOW)
    await acme.store.write(invitations.join, invited.token, user_id=theirs, at=NOW)

    assert (await member(acme)).user_id == theirs
    assert await acme.store.read(accounts.find_hash, EVA) == "an old hash"
    for user_id, error in ((theirs, Forbidden), (own + 9, NotFound)):
        with pytest.raises(error):
            await reset_link(acme, acme.owner_id, user_id)
    assert await opens(acme, await reset_link(acme, acme.owner_id, own))
    assert await acme.store.read(accounts.find_hash, MAX) == "a new hash"


async def test_an_account_in_no_workspace_any_more_starts_again_with_its_second_factor_and_no_old_session(acme: World):
    first = await sign_up(acme, (await invite(acme)).token)
    joined = await member(acme)
    app = pyotp.TOTP((await acme.store.write(second_factors.enrol, joined.user_id, email=EVA, sealer=SEALER)).secret)
    about: dict[str, Any] = {"sealer": SEALER, "actor": OPERATOR, "at": NOW - timedelta(hours=1)}
    codes = await acme.store.write(second_factors.confirm, joined.user_id, app.at(about["at"]), **about)

    with pytest.raises(ValidationError):
        await invite(acme)
    await remove(acme, joined.user_id)
    invited = await invite(acme)
    token = invited.token
    with pytest.raises(ValidationError):  # who invites it does not get it
        await sign_up(acme, token, codes[1], "another hash")
    for code, error in ((None, SecondFactorRequired), ("000000", InvalidSecondFactor)):
        with pytest.raises(error):
            await sign_up(acme, token, code)
    await sign_up(acme, token, codes[0])

    assert (await member(acme)).user_id == joined.user_id
    await remove(acme, joined.user_id)
    await sign_up(acme, (await invite(acme)).mailed_token, codes[1], "another hash")
    assert await acme.store.read(accounts.find_hash, EVA) == "another hash"
    with pytest.raises(Forbidden):
        await acme.store.read(sessions.identify, keys.digest(first.token), at=NOW)
