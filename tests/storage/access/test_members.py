"""Members: roles, suspension, removal, and an active owner at all times."""

import asyncio
from typing import Any

import pytest

from storage.access import members, workspaces
from storage.access.workspaces import MemberStatus, Role
from storage.engine import audit
from storage.engine.audit import OPERATOR
from storage.rules.errors import LastOwner, NotFound
from tests.storage.databases import both_databases
from tests.world import NOW, World

ABOUT: dict[str, Any] = {"actor": OPERATOR, "at": NOW}
SUSPENDED, ACTIVE = MemberStatus.SUSPENDED, MemberStatus.ACTIVE


async def join(acme: World, email: str, role: Role = Role.MEMBER) -> int:
    user_id: int = await acme.store.write(
        workspaces.add_member, acme.workspace_id, email=email, role=role, password_hash="not a hash", at=NOW
    )
    return user_id


async def change(acme: World, user_id: int, **values: Any) -> Any:
    return await acme.store.write(members.change, acme.workspace_id, user_id, **values, **ABOUT)


async def listed(acme: World) -> dict[str, tuple[Role, MemberStatus]]:
    rows = await acme.store.read(members.list_members, acme.workspace_id)
    return {row.email: (row.role, row.status) for row in rows}


async def test_a_member_is_suspended_reactivated_and_made_an_owner_and_the_log_says_so(acme: World):
    max_id = await join(acme, "max@acme.example")

    for values in ({"status": SUSPENDED}, {"status": ACTIVE}, {"role": Role.OWNER}):
        await change(acme, max_id, **values)

    log = await acme.store.read(audit.list_entries, acme.program_id)
    assert (await listed(acme))["max@acme.example"] == (Role.OWNER, ACTIVE)
    assert [(entry.action, entry.field, entry.after) for entry in log.data[:3]] == [
        ("member.change", "role", "owner"),
        ("member.change", "status", "active"),
        ("member.change", "status", "suspended"),
    ]


async def test_the_last_active_owner_stays(acme: World):
    await change(acme, await join(acme, "gone@acme.example", Role.OWNER), status=SUSPENDED)

    for values in ({"status": SUSPENDED}, {"role": Role.MEMBER}):
        with pytest.raises(LastOwner):
            await change(acme, acme.owner_id, **values)
    with pytest.raises(LastOwner):
        await acme.store.write(members.remove, acme.workspace_id, acme.owner_id, **ABOUT)

    assert (await listed(acme))["owner@acme.example"] == (Role.OWNER, ACTIVE)


@both_databases
@pytest.mark.usefixtures("side_by_side")
async def test_of_two_owners_who_suspend_each_other_at_once_one_stays(acme: World):
    second = await join(acme, "second@acme.example", Role.OWNER)

    outcomes = await asyncio.gather(
        *(
            acme.store.write(members.change, acme.workspace_id, user_id, status=SUSPENDED, **ABOUT, lane=lane)
            for lane, user_id in enumerate((acme.owner_id, second))
        ),
        return_exceptions=True,
    )

    assert sorted(type(outcome) is LastOwner for outcome in outcomes) == [False, True]
    assert sorted(status for _, status in (await listed(acme)).values()) == [ACTIVE, SUSPENDED]


async def test_ownership_is_transferred_only_to_an_active_member(acme: World):
    max_id = await join(acme, "max@acme.example")
    hand_over = (members.transfer_ownership, acme.workspace_id, max_id)
    await change(acme, max_id, status=SUSPENDED)

    with pytest.raises(NotFound):
        await acme.store.write(*hand_over, owner_id=acme.owner_id, **ABOUT)
    await change(acme, max_id, status=ACTIVE)
    await acme.store.write(*hand_over, owner_id=acme.owner_id, **ABOUT)

    roles = {email: role for email, (role, _) in (await listed(acme)).items()}
    assert roles == {"max@acme.example": Role.OWNER, "owner@acme.example": Role.MEMBER}


async def test_a_removed_member_is_gone_and_can_be_added_again(acme: World):
    max_id = await join(acme, "max@acme.example")

    await acme.store.write(members.remove, acme.workspace_id, max_id, **ABOUT)

    assert "max@acme.example" not in await listed(acme)
    with pytest.raises(NotFound):
        await change(acme, max_id, role=Role.OWNER)
    assert await join(acme, "max@acme.example") == max_id
