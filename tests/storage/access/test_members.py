"""Members and their accounts: roles, an active owner at all times, sessions, and passwords set by a link once."""

import asyncio
from datetime import timedelta
from functools import partial
from typing import Any

import pytest

from storage.access import accounts, members, second_factors, sessions
from storage.access.workspaces import MemberStatus, Role
from storage.lists.audit_log import AUDIT_LOG
from storage.rules import keys
from storage.rules.errors import Forbidden, InvalidCredentials, LastOwner, LinkExpired, NotFound
from storage.tables import password_resets
from tests.storage.access.links import MAX, by, change, whose
from tests.world import BY, NOW, SEALER, World, stored

SUSPENDED, ACTIVE = MemberStatus.SUSPENDED, MemberStatus.ACTIVE
OWNER = "owner@acme.example"


async def listed(acme: World) -> dict[str, tuple[Role, MemberStatus]]:
    rows = await acme.store.read(members.list_members, acme.workspace_id)
    return {row.email: (row.role, row.status) for row in rows}


async def identify(acme: World, token: str) -> Any:
    return await acme.store.read(sessions.identify, keys.digest(token), at=NOW)


async def set_password(acme: World, **options: Any) -> Any:
    return await acme.store.write(accounts.set_password, acme.owner_id, "a new hash", **options, by=BY)


async def link(acme: World) -> accounts.ResetLink:
    made = await acme.store.write(accounts.create_reset_link, acme.owner_id, by=BY)
    assert await stored(acme, password_resets.c.token_hash) == [(keys.digest(made.token),)]
    return made


async def test_the_last_active_owner_stays(acme: World):
    await change(acme, await acme.join("gone@acme.example", Role.OWNER), status=SUSPENDED)

    for values in ({"status": SUSPENDED}, {"role": Role.MEMBER}):
        with pytest.raises(LastOwner):
            await change(acme, acme.owner_id, **values)
    with pytest.raises(LastOwner):
        await acme.store.write(members.remove, acme.workspace_id, acme.owner_id, by=BY)

    assert (await listed(acme))[OWNER] == (Role.OWNER, ACTIVE)


@pytest.mark.both_databases
@pytest.mark.usefixtures("side_by_side")
async def test_of_two_owners_who_suspend_each_other_at_once_one_stays(acme: World):
    second = await acme.join("second@acme.example", Role.OWNER)
    both = (acme.owner_id, second)

    for _ in range(5):  # the first time, one of the two lanes has to connect
        suspended = [change(acme, each, status=SUSPENDED, lane=lane) for lane, each in enumerate(both)]
        outcomes = await asyncio.gather(*suspended, return_exceptions=True)

        assert sorted(type(outcome) is LastOwner for outcome in outcomes) == [False, True]
        assert sorted(status for _, status in (await listed(acme)).values()) == [ACTIVE, SUSPENDED]
        for user_id in both:
            await change(acme, user_id, status=ACTIVE)


async def test_ownership_is_transferred_only_to_an_active_member(acme: World):
    max_id = await acme.join()
    write: Any = acme.store.write
    hand_over = partial(write, members.transfer_ownership, acme.workspace_id, max_id)
    await change(acme, max_id, status=SUSPENDED)

    with pytest.raises(NotFound):
        await hand_over(by=by(acme.owner_id))
    await change(acme, max_id, status=ACTIVE)
    await hand_over(by=by(acme.owner_id))

    assert await listed(acme) == {MAX: (Role.OWNER, ACTIVE), OWNER: (Role.MEMBER, ACTIVE)}


async def test_a_new_password_ends_every_session_but_the_one_that_set_it_and_sign_ins_under_way(acme: World):
    mine, other = await acme.sign_in(), await acme.sign_in()
    verified = await acme.store.read(sessions.account, OWNER)

    ended = await set_password(acme, but=keys.digest(mine))

    assert ended == 1
    assert (await identify(acme, mine)).email == OWNER
    with pytest.raises(Forbidden):
        await identify(acme, other)
    log = await acme.listed(AUDIT_LOG)
    assert log.data[0].action == "account.set_password"
    assert "hash" not in str(log.data[0])
    assert verified is not None
    with pytest.raises(InvalidCredentials):
        await acme.store.write(second_factors.sign_in, verified, code=None, sealer=SEALER, client=None, at=NOW)


@pytest.mark.both_databases
@pytest.mark.usefixtures("side_by_side")
async def test_a_link_sets_a_password_once_and_ends_the_sessions(acme: World):
    session, made = await acme.sign_in(), await link(acme)
    assert await whose(acme, made.token) == OWNER
    reset = accounts.reset_password

    used = [acme.store.write_in(each, reset, made.token, f"hash {each}", at=NOW) for each in range(3)]
    outcomes = await asyncio.gather(*used, return_exceptions=True)

    assert sorted(type(outcome) is LinkExpired for outcome in outcomes) == [False, True, True]
    with pytest.raises(Forbidden):
        await identify(acme, session)
    assert not await whose(acme, made.token)


async def test_a_link_ends_after_a_day_with_a_newer_one_and_with_a_new_password(acme: World):
    first, second = (await link(acme)).token, (await link(acme)).token

    assert not await whose(acme, first)
    assert await whose(acme, second, NOW + timedelta(hours=24, seconds=-1))
    assert not await whose(acme, second, NOW + timedelta(hours=24))
    await set_password(acme)
    assert not await whose(acme, second)
