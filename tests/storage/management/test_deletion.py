"""Deleting a program: before its first event, with its sandbox, and without a trace elsewhere."""

from collections.abc import Sequence
from typing import Any

import pytest
from sqlalchemy import Connection, func, select

from storage.access import agent_keys
from storage.access.agent_keys import Issued
from storage.engine.audit import Actor
from storage.management import commissions, deletion, sandboxes
from storage.management.sandboxes import Sandbox
from storage.rules.commission import CommissionStatus
from storage.rules.errors import InvalidKey, NotFound, ProgramHasEvents, ValidationError
from storage.rules.scope import Scope
from storage.tables import assistants, audit_entries, metadata, programs
from storage.tables import commissions as earned
from tests import world
from tests.storage.access.test_assistants import authorize, tokens, visitor
from tests.storage.databases import both_databases
from tests.storage.management.test_sandboxes import within
from tests.world import NOW, World, stored

OWNER = Actor("user", "1", "owner@acme.example")


async def delete(acme: World, program_id: int) -> None:
    await acme.store.write(deletion.delete_program, program_id, actor=OWNER, at=NOW)


async def opened(acme: World) -> World:
    """Open Acme's sandbox."""
    sandbox: Sandbox = await acme.store.write(sandboxes.open_sandbox, acme.program_id, actor=OWNER, at=NOW)
    return within(acme, sandbox)


async def rows(acme: World, program_id: int) -> dict[str, int]:
    """Count what is left of a program, by table."""

    def read(connection: Connection) -> dict[str, int]:
        tables = [table for table in metadata.sorted_tables if "program_id" in table.c and table is not audit_entries]
        mine: list[Any] = [(table, table.c.program_id == program_id) for table in tables]
        mine.append((programs, programs.c.id == program_id))
        counts = {
            table.name: connection.execute(select(func.count()).select_from(table).where(only)).scalar_one()
            for table, only in mine
        }
        return {name: count for name, count in counts.items() if count}

    return await acme.store.read(read)


@both_databases
async def test_a_program_without_events_is_deleted_with_its_sandbox_and_all_its_trials(acme: World):
    sandbox = await opened(acme)
    await sandbox.customer(code="sandbox")
    await sandbox.sale()
    other = await world.program_of(acme.store, acme.workspace_id, acme.owner_id)
    before = await rows(acme, other.program_id)

    await delete(acme, acme.program_id)

    assert (await rows(acme, acme.program_id), await rows(acme, sandbox.program_id)) == ({}, {})
    assert await rows(acme, other.program_id) == before
    with pytest.raises(NotFound):
        await delete(acme, acme.program_id)


async def test_a_program_with_one_click_is_not_deleted_and_its_sandbox_is(acme: World):
    sandbox = await opened(acme)
    await acme.visitor()
    await sandbox.visitor("sandbox")

    with pytest.raises(ProgramHasEvents):
        await delete(acme, acme.program_id)
    await delete(acme, sandbox.program_id)

    assert await rows(acme, sandbox.program_id) == {}
    assert (await rows(acme, acme.program_id))["clicks"] == 1


async def test_what_was_granted_for_a_program_ends_with_it_and_every_audit_entry_stays(acme: World):
    other = await world.program_of(acme.store, acme.workspace_id, acme.owner_id)
    both, gone = (acme.program_id, other.program_id), (other.program_id,)
    who = await visitor(acme)
    connected = [await tokens(acme, who, *program_ids) for program_ids in (both, gone)]
    issued = [await issue(acme, program_ids) for program_ids in ((), both, gone)]
    entries = await stored(acme, audit_entries.c.id)

    await delete(acme, other.program_id)

    about: Any = {"scope": None, "program_id": acme.program_id, "at": NOW}
    assert (await authorize(acme, connected[0].access)).program_ids == (acme.program_id,)
    for key, program_ids in zip(issued, (None, (acme.program_id,)), strict=False):
        assert (await acme.store.read(agent_keys.authorize, key.secret, **about)).program_ids == program_ids
    with pytest.raises(InvalidKey):
        await authorize(acme, connected[1].access)
    with pytest.raises(InvalidKey):
        await acme.store.read(agent_keys.authorize, issued[2].secret, **about)
    assert set(entries) < set(await stored(acme, audit_entries.c.id))
    (granted,) = await stored(acme, assistants.c.program_ids)
    assert granted == (str(acme.program_id),)


async def issue(acme: World, program_ids: Sequence[int]) -> Issued:
    about: Any = {"name": "Helper", "scopes": [Scope.PROGRAMS_READ], "program_ids": program_ids, "at": NOW}
    issued: Issued = await acme.store.write(agent_keys.issue, acme.workspace_id, **about)
    return issued


async def test_no_payout_includes_a_sandbox(acme: World):
    sandbox = await opened(acme)
    await sandbox.customer(code="sandbox")
    await sandbox.sale()
    (commission_id,) = await acme.store.read(lambda connection: connection.execute(select(earned.c.id)).one())
    approval: Any = {"actor": OWNER, "at": NOW, "override_hold_reason": "a trial"}
    about: Any = (commissions.decide, sandbox.program_id, commission_id)
    await acme.store.write(*about, CommissionStatus.APPROVED, **approval)

    with pytest.raises(ValidationError, match="sandbox"):
        await acme.store.write(*about, CommissionStatus.PAID, actor=OWNER, at=NOW)
