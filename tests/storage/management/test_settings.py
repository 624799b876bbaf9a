"""The first workspace, and what is changed later: settings, terms, partners and approvals, each in the log."""

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from storage import Storage
from storage.access import sessions
from storage.engine.audit import Actor
from storage.lists.audit_log import AUDIT_LOG
from storage.lists.declaration import ListQuery, ListScope
from storage.lists.find import find, get
from storage.lists.partners import PARTNERS
from storage.lists.programs import PROGRAMS, read_program
from storage.management import partners, program_settings
from storage.rules import errors, keys
from storage.rules.attribution import PartnerStatus
from storage.rules.settings import ProgramSettings
from storage.tables import commission_terms
from tests.storage.databases import both_databases
from tests.world import NOW, World, stored

LATER = NOW + timedelta(days=60)
OLGA, MAX = Actor("user", "7", "olga@acme.example"), Actor("user", "8", "max@acme.example")
PROGRAM = ProgramSettings("Acme partners", "acme.example")
CHOSEN: dict[str, Any] = {"workspace": "Acme", "password_hash": "a hash", "partner": {"name": "Anna", "code": "anna"}}


async def set_up(store: Storage, email: str = "Olga@acme.example", lane: int = 0) -> Any:
    about = CHOSEN | {"client": "Firefox", "at": NOW}
    return await store.write_in(lane, program_settings.set_up, PROGRAM, email=email, **about)


@both_databases
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


async def test_new_terms_are_a_new_version_and_a_change_based_on_an_older_revision_is_rejected(acme: World):
    await change(acme, {"name": "New"}, expected_revision=1)
    program = await change(acme, {"commission_rate": 12.34})

    versions = await stored(acme, commission_terms.c.version, commission_terms.c.rate)
    assert sorted(versions) == [(1, 2000), (2, 1234)]
    assert (program.revision, program.settings.name, program.settings.rate) == (3, "New", 1234)
    with pytest.raises(errors.PreconditionFailed):
        await change(acme, {"name": "X"}, expected_revision=1)
    assert (await acme.store.read(read_program, acme.program_id)).settings.name == "New"


async def test_the_currency_of_recorded_money_does_not_change(acme: World):
    await acme.customer()
    await acme.sale()

    with pytest.raises(errors.ValidationError) as rejected:
        await change(acme, {"currency": "EUR"})

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
    assert (await acme.store.read(get, PARTNERS, ListScope(acme.program_id, NOW), acme.anna)).code == "anna"
