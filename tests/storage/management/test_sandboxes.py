"""Sandboxes and deletion: all works in a sandbox, nothing of it reaches the live program, and no trace is left."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import pytest
from sqlalchemy import Connection, Table, func, select

from storage.checks import books
from storage.engine.audit import OPERATOR
from storage.lists.programs import read_program
from storage.management import program_settings
from storage.rules.errors import NotFound, ProgramHasEvents, ValidationError
from storage.tables import commissions as earned
from storage.tables import metadata, programs, rollups
from tests import stripe_events as stripe
from tests.storage.databases import both_databases
from tests.storage.payments.paying import connect, take
from tests.world import NOW, World, stored

ABOUT: dict[str, Any] = {"actor": OPERATOR, "at": NOW}
KEPT = {  # what describes the program itself, where its rows lie, and notes of its last transactions
    *("agent_caps", "agent_keys", "audit_entries", "commission_terms", "partner_rollups", "partners"),
    *("payment_accounts", "program_keys", "retired_program_keys", "rollups", "program_places", "program_batches"),
}
OF_A_PROGRAM = {table.name: table for table in metadata.sorted_tables if "program_id" in table.c}
DELETED = [table for name, table in OF_A_PROGRAM.items() if name != "audit_entries"]


async def opened(acme: World) -> World:
    """Open a program's sandbox."""
    program_id, key = await acme.do(program_settings.open_sandbox)
    return replace(acme, program_id=program_id, key=key.secret)


async def sold(acme: World) -> World:
    """Open a program's sandbox, and sell in it."""
    sandbox = await opened(acme)
    await sandbox.customer(code="sandbox")
    assert (await sandbox.sale()).commission_cents == 2_000
    return sandbox


async def delete(acme: World, program_id: int) -> None:
    await acme.store.write(program_settings.delete_program, program_id, **ABOUT)


async def rows(acme: World, program_id: int, tables: Iterable[Table] = program_settings.EVENTS) -> dict[str, int]:
    """Count a program's rows by table: its events by default."""

    def count(connection: Connection) -> dict[str, int]:
        mine = {each.name: select(func.count()).where(each.c.program_id == program_id) for each in tables}
        counts = {name: connection.execute(query).scalar_one() for name, query in mine.items()}
        return {name: number for name, number in counts.items() if number}

    return await acme.store.read(count)


async def test_a_sandbox_has_the_live_settings_and_attributes_with_a_key_and_a_partner_of_its_own(acme: World):
    sandbox = await sold(acme)
    await sandbox.refund()

    about = [await acme.store.read(read_program, each.program_id) for each in (acme, sandbox)]
    live, tried = about
    assert (tried.settings, tried.sandbox_of, live.sandbox_of) == (live.settings, acme.program_id, None)
    assert tried.api_token_masked != live.api_token_masked
    assert (tried.api_token_masked or "").endswith(sandbox.key[-4:])
    assert await rows(acme, acme.program_id) == {}
    assert await acme.store.read(books.run) == []


async def test_a_sandbox_counts_bots_but_no_prefetches_and_the_processors_test_payments_are_sales(acme: World):
    sandbox = await opened(acme)

    for program, code in ((acme, "anna"), (sandbox, "sandbox")):
        for reason in ("bot", "prefetch"):
            await program.click(code, filtered=reason)
    counted = await stored(acme, rollups.c.program_id, rollups.c.clicks)
    await connect(sandbox)
    paid = stripe.checkout(metadata={"svc_click_id": await sandbox.visitor("sandbox")})

    assert [each for each in counted if each[1]] == [(sandbox.program_id, 1)]
    assert (await take(sandbox, paid | {"livemode": False})).outcome == "recorded"


@both_databases
async def test_emptying_it_leaves_the_program_its_key_and_its_partners(acme: World):
    sandbox = await sold(acme)
    await sandbox.refund()
    await acme.customer()
    live = await rows(acme, acme.program_id)

    await acme.do(program_settings.empty_sandbox)

    assert await rows(acme, sandbox.program_id) == {}
    assert await rows(acme, acme.program_id) == live
    assert await acme.store.read(books.run) == []
    await sandbox.customer(code="sandbox")


def test_every_table_of_a_program_is_emptied_or_describes_the_program():
    assert {table.name for table in program_settings.EVENTS} == OF_A_PROGRAM.keys() - KEPT


async def test_no_payout_includes_a_sandbox(acme: World):
    sandbox = await sold(acme)
    [(commission_id,)] = await stored(acme, earned.c.id)
    await sandbox.decide("approved", commission_id)

    with pytest.raises(ValidationError, match="sandbox"):
        await sandbox.decide("paid", commission_id)


@both_databases
async def test_a_program_without_events_is_deleted_with_its_sandbox_and_all_its_trials(acme: World):
    sandbox = await sold(acme)
    other = await acme.beside()
    before = await rows(acme, other.program_id, DELETED)

    await delete(acme, acme.program_id)

    assert [await rows(acme, each.program_id, DELETED) for each in (acme, sandbox)] == [{}, {}]
    assert await stored(acme, programs.c.id) == [(other.program_id,)]
    assert await rows(acme, other.program_id, DELETED) == before
    with pytest.raises(NotFound):
        await delete(acme, acme.program_id)


async def test_a_program_with_one_click_is_not_deleted_and_its_sandbox_is(acme: World):
    sandbox = await opened(acme)
    await acme.visitor()
    await sandbox.visitor("sandbox")

    with pytest.raises(ProgramHasEvents):
        await delete(acme, acme.program_id)
    await delete(acme, sandbox.program_id)

    assert await rows(acme, sandbox.program_id, DELETED) == {}
    assert await stored(acme, programs.c.id) == [(acme.program_id,)]
    assert (await rows(acme, acme.program_id))["clicks"] == 1


async def test_a_program_with_a_payment_that_names_no_customer_is_not_deleted(acme: World):
    await take(acme, stripe.checkout())

    with pytest.raises(ProgramHasEvents):
        await delete(acme, acme.program_id)
