"""Programs: the first of a server, changes in the log, sandboxes, in which all works and stays, and deletion."""

import asyncio
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import pytest
from sqlalchemy import Table

from storage import Storage
from storage.access import sessions
from storage.lists.audit_log import AUDIT_LOG
from storage.lists.declaration import ListQuery, ListScope
from storage.lists.find import find
from storage.lists.partners import PARTNERS
from storage.lists.programs import PROGRAMS, read_program
from storage.management import partners, program_settings
from storage.rules import errors, keys
from storage.rules.attribution import PartnerStatus
from storage.rules.settings import ProgramSettings
from storage.tables import commission_terms, metadata, programs, rollups
from storage.tables import commissions as earned
from tests import stripe_events as stripe
from tests.storage.payments.paying import connect, take
from tests.world import NOW, OLGA, World, stored

PROGRAM = ProgramSettings("Acme partners", "acme.example")
CHOSEN: dict[str, Any] = {"workspace": "Acme", "password_hash": "a hash", "partner": {"name": "Anna", "code": "anna"}}
KEPT = {  # what describes the program itself, where its rows lie, and notes of its last transactions
    *program_settings.LOGS,
    *("agent_caps", "agent_keys", "commission_terms", "coupons", "partner_rollups", "partners", "payout_methods"),
    *("payment_accounts", "portal_accounts", "portal_tokens", "program_keys", "retired_program_keys", "rollups"),
    *("program_places", "program_batches"),
}
OF_A_PROGRAM = {table.name: table for table in metadata.sorted_tables if "program_id" in table.c}
DELETED = [table for name, table in OF_A_PROGRAM.items() if name not in program_settings.LOGS]


async def set_up(store: Storage, email: str = "Olga@acme.example", lane: int = 0) -> Any:
    about = CHOSEN | {"client": "Firefox", "at": NOW}
    return await store.write_in(lane, program_settings.set_up, PROGRAM, email=email, **about)


@pytest.mark.both_databases
@pytest.mark.usefixtures("side_by_side")
async def test_of_several_at_once_one_sets_the_service_up(store: Storage):
    made_at_once = (set_up(store, f"olga{number}@acme.example", lane=number) for number in range(6))
    done = await asyncio.gather(*made_at_once, return_exceptions=True)

    assert [type(each) for each in done if not isinstance(each, tuple)] == [errors.Forbidden] * 5
    program_id, _, session = next(each for each in done if isinstance(each, tuple))
    visitor = await store.read(sessions.identify, keys.digest(session.token), at=NOW)
    with pytest.raises(errors.Forbidden):
        await set_up(store)
    mine = visitor.memberships[0].workspace_id
    scope = ListScope(0, NOW, workspace_ids=range(mine - 10, mine + 10))
    programs = await store.read(find, PROGRAMS, scope, ListQuery())
    assert [each.id for each in programs.data] == [program_id]


async def change(acme: World, values: dict[str, Any], **options: Any) -> Any:
    return await acme.do(program_settings.change, values, actor=OLGA, **options)


async def test_new_terms_are_a_new_version_and_an_older_revision_or_recorded_moneys_currency_is_rejected(acme: World):
    await change(acme, {"name": "New"}, expected_revisions={1})
    program = await change(acme, {"commission_rate": 12.34})

    versions = await stored(acme, commission_terms.c.version, commission_terms.c.rate)
    assert sorted(versions) == [(1, 2000), (2, 1234)]
    assert (program.revision, program.settings.name, program.settings.rate) == (3, "New", 1234)
    with pytest.raises(errors.PreconditionFailed):
        await change(acme, {"name": "X"}, expected_revisions={1})
    await acme.customer()
    await acme.sale()
    with pytest.raises(errors.ValidationError) as rejected:
        await change(acme, {"currency": "EUR"})
    assert (await acme.store.read(read_program, acme.program_id)).settings.name == "New"
    assert rejected.value.fields[0].field == "currency"


async def test_a_change_is_in_the_log_of_its_own_program_and_a_duplicate_code_undoes_its_own_alone(acme: World):
    other = await acme.beside()
    anna: dict[str, Any] = {"status": PartnerStatus.PAUSED, "name": "Anna"}
    await acme.do(partners.change, acme.anna, anna, actor=OLGA)

    with pytest.raises(errors.ValidationError) as rejected:
        await acme.do(partners.change, acme.anna, {"code": "ben"}, actor=OLGA)

    (entry,) = (await acme.listed(AUDIT_LOG)).data
    assert (entry.actor, entry.subject_id) == (OLGA, str(acme.anna))
    assert (entry.action, entry.field, entry.before, entry.after) == ("partner.change", "status", "active", "paused")
    assert (await other.listed(AUDIT_LOG)).data == []
    [field] = rejected.value.fields
    assert (field.field, field.message.startswith("Another partner of this program has this code")) == ("code", True)
    assert (await acme.row(PARTNERS, acme.anna)).code == "anna"


async def opened(acme: World) -> World:
    program_id, key = await acme.do(program_settings.open_sandbox)
    return replace(acme, program_id=program_id, key=key.api_token)


async def sold(acme: World) -> World:
    """Open a program's sandbox, and sell in it."""
    sandbox = await opened(acme)
    await sandbox.customer(code="sandbox")
    assert (await sandbox.sale()).commission_cents == 2_000
    return sandbox


async def count(program: World, tables: Iterable[Table] = program_settings.EVENTS) -> dict[str, int]:
    """Count a program's rows by table: its events by default."""
    return {each.name: len(rows) for each in tables if (rows := await program.rows(each))}


async def test_a_sandbox_has_the_live_settings_a_key_and_a_partner_of_its_own_and_no_payout(acme: World):
    sandbox = await sold(acme)
    [(commission_id,)] = await stored(acme, earned.c.id)
    await sandbox.decide("approved", commission_id)
    with pytest.raises(errors.ValidationError, match="sandbox"):
        await sandbox.decide("paid", commission_id)
    await sandbox.refund()

    about = [await acme.store.read(read_program, each.program_id) for each in (acme, sandbox)]
    live, tried = about
    assert (tried.settings, tried.sandbox_of, live.sandbox_of) == (live.settings, acme.program_id, None)
    assert tried.api_token_masked != live.api_token_masked
    assert (tried.api_token_masked or "").endswith(sandbox.key[-4:])
    assert await count(acme) == {}


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


@pytest.mark.both_databases
async def test_emptying_it_leaves_the_program_its_key_and_its_partners(acme: World):
    sandbox = await sold(acme)
    await sandbox.refund()
    await acme.customer()
    live = await count(acme)

    await acme.do(program_settings.empty_sandbox)

    assert await count(sandbox) == {}
    assert await count(acme) == live
    await sandbox.customer(code="sandbox")


def test_every_table_of_a_program_is_emptied_or_describes_the_program():
    assert {table.name for table in program_settings.EVENTS} == OF_A_PROGRAM.keys() - KEPT


@pytest.mark.both_databases
async def test_a_program_without_events_is_deleted_with_its_sandbox_and_all_its_trials(acme: World):
    sandbox = await sold(acme)
    other = await acme.beside()
    before = await count(other, DELETED)

    await acme.do(program_settings.delete_program)

    assert [await count(each, DELETED) for each in (acme, sandbox)] == [{}, {}]
    assert await stored(acme, programs.c.id) == [(other.program_id,)]
    assert await count(other, DELETED) == before
    with pytest.raises(errors.NotFound):
        await acme.do(program_settings.delete_program)


async def test_a_program_with_one_click_or_a_payment_of_no_one_is_not_deleted_and_its_sandbox_is(acme: World):
    sandbox, other = await opened(acme), await acme.beside()
    await acme.visitor()
    await sandbox.visitor("sandbox")
    await take(other, stripe.checkout())

    for each in (acme, other):
        with pytest.raises(errors.ProgramHasEvents):
            await each.do(program_settings.delete_program)
    await sandbox.do(program_settings.delete_program)

    assert await count(sandbox, DELETED) == {}
    assert (await count(acme))["clicks"] == 1
