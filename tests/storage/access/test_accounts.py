"""Accounts: a new password ends the sessions, a link sets one once."""

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from storage.access import accounts, sessions, sign_in
from storage.access.accounts import ResetLink
from storage.access.sessions import Account, Started
from storage.engine import audit
from storage.engine.audit import OPERATOR
from storage.engine.sealing import Sealer
from storage.rules import keys
from storage.rules.errors import Forbidden, InvalidCredentials, LinkExpired, NotFound
from storage.tables import password_resets
from tests.storage.databases import both_databases
from tests.world import NOW, World, stored

EMAIL = "owner@acme.example"
ABOUT: dict[str, Any] = {"actor": OPERATOR, "at": NOW}


async def start(acme: World, client: str | None = None) -> Started:
    started: Started = await acme.store.write(sessions.start, acme.owner_id, client=client, at=NOW)
    return started


async def link(acme: World) -> ResetLink:
    made: ResetLink = await acme.store.write(accounts.create_reset_link, acme.owner_id, **ABOUT)
    assert await stored(acme, password_resets.c.token_hash) == [(keys.digest(made.token),)]
    return made


async def test_a_new_password_ends_every_session_but_the_one_that_set_it(acme: World):
    mine, other = await start(acme), await start(acme)

    ended = await acme.store.write(
        accounts.set_password, acme.owner_id, "a new hash", but=keys.digest(mine.token), **ABOUT
    )

    assert ended == 1
    assert (await acme.store.read(sessions.identify, keys.digest(mine.token), at=NOW)).email == EMAIL
    with pytest.raises(Forbidden):
        await acme.store.read(sessions.identify, keys.digest(other.token), at=NOW)
    log = await acme.store.read(audit.list_entries, acme.program_id)
    assert log.data[0].action == "account.set_password"
    assert "hash" not in str(log.data[0])


async def test_a_sign_in_that_began_before_the_password_changed_gets_no_session(acme: World):
    verified = await acme.store.read(sessions.account, EMAIL)
    assert isinstance(verified, Account)

    await acme.store.write(accounts.set_password, acme.owner_id, "a new hash", **ABOUT)

    with pytest.raises(InvalidCredentials):
        await acme.store.write(sign_in.start, verified, code=None, sealer=Sealer("a key"), client=None, at=NOW)


async def test_sessions_are_listed_with_their_client_and_end_one_by_one(acme: World):
    mine, other = await start(acme, "Firefox"), await start(acme, "svc on a laptop" + "x" * 300)

    async def listed() -> list[sessions.OpenSession]:
        return await acme.store.read(sessions.list_open, acme.owner_id, token_hash=keys.digest(mine.token), at=NOW)

    both = {each.is_current: each for each in await listed()}
    await acme.store.write(sessions.end_one, acme.owner_id, both[False].id)

    assert both[True].client == "Firefox"
    assert len(both[False].client or "") == 255
    assert [each.is_current for each in await listed()] == [True]
    assert other.token not in str(both)
    with pytest.raises(NotFound):
        await acme.store.write(sessions.end_one, acme.owner_id + 1, both[True].id)


@both_databases
@pytest.mark.usefixtures("side_by_side")
async def test_a_link_sets_a_password_once_and_ends_the_sessions(acme: World):
    session, made = await start(acme), await link(acme)
    assert await acme.store.read(accounts.get_reset_email, made.token, at=NOW) == EMAIL

    outcomes = await asyncio.gather(
        *(
            acme.store.write(accounts.reset_password, made.token, f"hash {each}", at=NOW, lane=each)
            for each in range(3)
        ),
        return_exceptions=True,
    )

    assert sorted(type(outcome) is LinkExpired for outcome in outcomes) == [False, True, True]
    with pytest.raises(Forbidden):
        await acme.store.read(sessions.identify, keys.digest(session.token), at=NOW)
    with pytest.raises(LinkExpired):
        await acme.store.read(accounts.get_reset_email, made.token, at=NOW)


async def test_a_link_ends_after_a_day_with_a_newer_one_and_with_a_new_password(acme: World):
    async def is_dead(made: ResetLink, at: Any = NOW) -> bool:
        try:
            await acme.store.read(accounts.get_reset_email, made.token, at=at)
        except LinkExpired:
            return True
        return False

    first, second = await link(acme), await link(acme)

    assert await is_dead(first)
    assert not await is_dead(second, NOW + timedelta(hours=24, seconds=-1))
    assert await is_dead(second, NOW + timedelta(hours=24))
    await acme.store.write(accounts.set_password, acme.owner_id, "a new hash", **ABOUT)
    assert await is_dead(second)
