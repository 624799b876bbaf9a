"""Sandboxes: everything works in them end to end, and nothing of it reaches the live program."""

from dataclasses import replace

import pytest
from sqlalchemy import Connection, func, select

from storage.checks import books
from storage.engine.audit import Actor
from storage.management import program_settings, sandboxes
from storage.management.sandboxes import Sandbox
from storage.rules.errors import InvalidKey, NotFound, ValidationError
from storage.tables import metadata, rollups
from tests import stripe_events as stripe
from tests.storage.databases import both_databases
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
