"""Sandboxes and deletion: everything works in a sandbox, nothing of it reaches the live program, and no trace is left."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from sqlalchemy import Connection, func, select

from storage.access import agent_keys
from storage.access.agent_keys import Issued
from storage.checks import books
from storage.engine.audit import Actor
from storage.management import commissions, deletion, program_settings, sandboxes
from storage.management.sandboxes import Sandbox
from storage.rules.commission import CommissionStatus
from storage.rules.errors import InvalidKey, NotFound, ProgramHasEvents, ValidationError
from storage.rules.scope import Scope
from storage.tables import assistants, audit_entries, metadata, programs, rollups
from storage.tables import commissions as earned
from tests import stripe_events as stripe
from tests import world
from tests.storage.access.test_assistants import authorize, tokens, visitor
from tests.storage.databases import both_databases
from tests.storage.management.test_sandboxes import within
from tests.storage.payments.paying import connect, take
from tests.world import NOW, World, stored

KEPT = {  # what describes the program itself, where its rows lie, and notes of its last transactions
    *("agent_caps", "agent_keys", "audit_entries", "commission_terms", "partner_rollups", "partners"),
    *("payment_accounts", "program_keys", "retired_program_keys", "rollups", "program_places", "program_batches"),
}


async def test_a_sandbox_has_the_live_settings_a_key_of_its_own_and_a_partner(acme: World):
    sandbox = await opened(acme)

    live, tried = [
        await acme.store.read(program_settings.get_program, each) for each in (acme.program_id, sandbox.program_id)
    ]
    assert (tried.settings, tried.sandbox_of, live.sandbox_of) == (live.settings, acme.program_id, None)
    assert tried.api_token_masked == sandbox.key.masked != live.api_token_masked
    assert await within(acme, sandbox).visitor("sandbox")


async def test_a_sandbox_attributes_end_to_end_and_the_live_program_sees_none_of_it(acme: World):
    sandbox = within(acme, await opened(acme))
    await sandbox.customer(code="sandbox")

    sold = await sandbox.sale()
    await sandbox.refund()

    assert sold.commission_cents == 2_000
    assert await rows_of(acme, acme.program_id) == {}
    assert await acme.store.read(books.run) == []


async def test_a_sandbox_counts_the_clicks_of_bots_but_not_of_prefetches(acme: World):
    sandbox = within(acme, await opened(acme))

    for program, code in ((acme, "anna"), (sandbox, "sandbox")):
        for reason in ("bot", "prefetch"):
            await program.click(code, filtered=reason)

    counted = await stored(acme, rollups.c.program_id, rollups.c.clicks)
    assert [each for each in counted if each[1]] == [(sandbox.program_id, 1)]


async def test_the_processor_s_test_payments_are_sales_in_a_sandbox(acme: World):
    sandbox = within(acme, await opened(acme))
    click_id = await sandbox.visitor("sandbox")
    await connect(sandbox)

    done = await take(sandbox, stripe.checkout(metadata={"svc_click_id": click_id}) | {"livemode": False})

    assert done.outcome == "recorded"


async def test_opening_it_again_replaces_its_key_alone(acme: World):
    first = within(acme, await opened(acme))
    await first.customer(code="sandbox")

    again = await opened(acme)

    assert again.program_id == first.program_id
    with pytest.raises(InvalidKey):
        await first.sale()
    assert (await within(acme, again).sale()).commission_cents == 2_000


@both_databases
async def test_emptying_it_leaves_the_program_its_key_and_its_partners(acme: World):
    sandbox = within(acme, await opened(acme))
    await sandbox.customer(code="sandbox")
    await sandbox.sale()
    await sandbox.refund()
    await acme.customer()
    live = await rows_of(acme, acme.program_id)

    await acme.store.write(sandboxes.empty, acme.program_id, actor=actor(acme), at=NOW)

    assert await rows_of(acme, sandbox.program_id) == {}
    assert await rows_of(acme, acme.program_id) == live
    assert await acme.store.read(books.run) == []
    await sandbox.customer(code="sandbox")


def test_every_table_of_a_program_is_emptied_or_describes_the_program():
    of_a_program = {table.name for table in metadata.sorted_tables if "program_id" in table.c}

    assert {table.name for table in sandboxes.EVENTS} == of_a_program - KEPT


async def test_a_sandbox_has_no_sandbox_and_a_program_without_one_has_none_to_empty(acme: World):
    with pytest.raises(NotFound):
        await acme.store.write(sandboxes.empty, acme.program_id, actor=actor(acme), at=NOW)
    sandbox = await opened(acme)

    with pytest.raises(ValidationError):
        await opened(within(acme, sandbox))


async def opened(acme: World) -> Sandbox:
    sandbox: Sandbox = await acme.store.write(sandboxes.open_sandbox, acme.program_id, actor=actor(acme), at=NOW)
    return sandbox


def actor(acme: World) -> Actor:
    return Actor("user", str(acme.owner_id), "owner@acme.example")


def within(acme: World, sandbox: Sandbox) -> World:
    return replace(acme, program_id=sandbox.program_id, key=sandbox.key.secret)


async def rows_of(acme: World, program_id: int) -> dict[str, int]:
    """Count a program's events, by table."""

    def count(connection: Connection) -> dict[str, int]:
        counts = {
            table.name: connection.execute(
                select(func.count()).select_from(table).where(table.c.program_id == program_id)
            ).scalar_one()
            for table in sandboxes.EVENTS
        }
        return {name: number for name, number in counts.items() if number}

    return await acme.store.read(count)


OWNER = Actor("user", "1", "owner@acme.example")


async def delete(acme: World, program_id: int) -> None:
    await acme.store.write(deletion.delete_program, program_id, actor=OWNER, at=NOW)


async def within_sandbox(acme: World) -> World:
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
    sandbox = await within_sandbox(acme)
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
    sandbox = await within_sandbox(acme)
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
    sandbox = await within_sandbox(acme)
    await sandbox.customer(code="sandbox")
    await sandbox.sale()
    (commission_id,) = await acme.store.read(lambda connection: connection.execute(select(earned.c.id)).one())
    approval: Any = {"actor": OWNER, "at": NOW, "override_hold_reason": "a trial"}
    about: Any = (commissions.decide, sandbox.program_id, commission_id)
    await acme.store.write(*about, CommissionStatus.APPROVED, **approval)

    with pytest.raises(ValidationError, match="sandbox"):
        await acme.store.write(*about, CommissionStatus.PAID, actor=OWNER, at=NOW)
