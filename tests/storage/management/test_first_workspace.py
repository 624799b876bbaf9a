"""The first workspace: everything or nothing, and only one."""

import asyncio
from typing import Any

import pytest

from storage import Storage
from storage.access import program_keys, sessions, workspaces
from storage.access.workspaces import Role
from storage.engine import audit
from storage.management import first_workspace, partners, program_settings
from storage.management.first_workspace import FirstWorkspace, SetUp
from storage.rules import keys
from storage.rules.errors import CurrencyNotSupported, Forbidden
from storage.rules.settings import ProgramSettings
from tests.storage.databases import both_databases
from tests.world import NOW

CHOSEN = FirstWorkspace(
    "Acme", "Olga@acme.example", "a hash", ProgramSettings("Acme partners", "acme.example"), "Anna", "anna"
)


async def set_up(store: Storage, chosen: FirstWorkspace = CHOSEN, **options: Any) -> SetUp:
    made: SetUp = await store.write(first_workspace.create, chosen, client="Firefox", at=NOW, **options)
    return made


async def test_the_owner_is_signed_in_to_a_program_with_a_key_and_a_partner(store: Storage):
    made = await set_up(store)

    visitor = await store.read(sessions.identify, keys.digest(made.session.token), at=NOW)
    assert (visitor.email, [each.role for each in visitor.memberships]) == ("olga@acme.example", [Role.OWNER])
    program = await store.read(program_settings.get_program, made.program_id)
    assert (program.settings, program.api_token_masked) == (CHOSEN.settings, made.key.masked)
    key = await store.read(program_keys.authenticate, keys.digest(made.key.secret), at=NOW)
    assert key.program_id == made.program_id
    assert [each.code for each in (await store.read(partners.list_partners, made.program_id)).data] == ["anna"]
    log = await store.read(audit.list_entries, made.program_id)
    assert {entry.actor.name for entry in log.data} == {"olga@acme.example"}


@both_databases
@pytest.mark.usefixtures("side_by_side")
async def test_of_several_at_once_one_sets_the_service_up(store: Storage):
    others = [CHOSEN._replace(owner_email=f"olga{number}@acme.example") for number in range(6)]

    done = await asyncio.gather(
        *(set_up(store, each, lane=number) for number, each in enumerate(others)), return_exceptions=True
    )

    assert [type(each) for each in done if not isinstance(each, SetUp)] == [Forbidden] * 5
    made = next(each for each in done if isinstance(each, SetUp))
    visitor = await store.read(sessions.identify, keys.digest(made.session.token), at=NOW)
    with pytest.raises(Forbidden):
        await set_up(store)
    mine = visitor.memberships[0].workspace_id
    programs = await store.read(program_settings.list_programs, workspace_ids=range(mine - 10, mine + 10))
    assert [each.id for each in programs.data] == [made.program_id]


async def test_what_is_rejected_leaves_nothing_behind(store: Storage):
    with pytest.raises(CurrencyNotSupported):
        await set_up(store, CHOSEN._replace(settings=CHOSEN.settings._replace(currency="XXX")))

    assert not await store.read(workspaces.exist)
