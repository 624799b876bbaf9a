"""The first workspace, and what is changed later: settings, terms, partners and approvals, each in the log."""

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from storage import Storage
from storage.access import preferences, program_keys, sessions, workspace_settings, workspaces
from storage.access.preferences import Preferences, Theme, TimeFormat
from storage.access.workspace_settings import WorkspaceSettings
from storage.access.workspaces import Role
from storage.engine import audit
from storage.engine.audit import OPERATOR, Actor
from storage.management import (
    commissions,
    first_workspace,
    partners,
    program_choices,
    program_settings,
    undone_approvals,
)
from storage.management.first_workspace import FirstWorkspace, SetUp
from storage.rules import keys
from storage.rules.commission import CommissionStatus
from storage.rules.errors import CurrencyNotSupported, Forbidden, NotFound, ValidationError
from storage.rules.images import Image
from storage.rules.settings import ProgramSettings
from tests import world
from tests.storage.databases import both_databases
from tests.world import NOW, World

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


ABOUT = {"actor": OPERATOR, "at": NOW}


async def test_a_workspace_has_a_name_a_time_zone_and_a_logo(acme: World):
    store, workspace_id = acme.store, acme.workspace_id
    logo = Image("image/png", b"\x00\xff" * 20)

    await store.write(workspace_settings.change, workspace_id, name="Acme & Co", time_zone="Asia/Tokyo", **ABOUT)
    await store.write(workspace_settings.set_logo, workspace_id, logo, **ABOUT)
    chosen = await store.read(workspace_settings.get_settings, workspace_id)
    stored = await store.read(workspace_settings.get_logo, workspace_id)
    await store.write(workspace_settings.set_logo, workspace_id, None, **ABOUT)
    log = (await store.read(audit.list_entries, acme.program_id, action="workspace")).data

    assert chosen == WorkspaceSettings("Acme & Co", "Asia/Tokyo", chosen.logo_version)
    assert (stored, len(chosen.logo_version or "")) == (logo, 16)
    assert {entry.action for entry in log} == {"workspace.change", "workspace.logo"}
    with pytest.raises(NotFound):
        await store.read(workspace_settings.get_logo, workspace_id)


async def test_a_person_switches_between_the_programs_of_their_workspaces(acme: World):
    other = await world.program_of(acme.store, acme.workspace_id, acme.owner_id, name="A second shop")
    await acme.store.write(preferences.change, acme.owner_id, Preferences("Olga", Theme.DARK, TimeFormat.HOURS_12))

    choices = await acme.store.read(program_choices.list_choices, acme.owner_id)

    assert [each.id for each in choices] == [other.program_id, acme.program_id]
    assert not await acme.store.read(program_choices.list_choices, 987_654)


LATER = NOW + timedelta(days=60)
OLGA = Actor("user", "7", "olga@acme.example")


async def test_what_was_approved_together_is_pending_again_unless_it_was_paid(acme: World):
    await acme.customer()
    for n in range(3):
        await acme.sale(f"inv-{n}")
    ids = [each.id for each in (await acme.store.read(commissions.list_commissions, acme.program_id)).data]
    decide = (commissions.decide_each, acme.program_id)
    await acme.store.write(*decide, ids[:2], CommissionStatus.APPROVED, actor=OLGA, at=LATER)
    await acme.store.write(
        *decide, ids[2:], CommissionStatus.APPROVED, actor=OLGA, at=LATER + timedelta(milliseconds=1)
    )
    await acme.store.write(*decide, ids[:1], CommissionStatus.PAID, actor=OLGA, at=LATER)
    millis = undone_approvals.millis_of(LATER)
    undo = (undone_approvals.undo, acme.program_id)

    other = await acme.store.write(*undo, millis=millis, actor=OPERATOR, at=LATER)
    undone = await acme.store.write(*undo, millis=millis, actor=OLGA, at=LATER)
    again = await acme.store.write(*undo, millis=millis, actor=OLGA, at=LATER)

    after = {
        each.id: each.status for each in (await acme.store.read(commissions.list_commissions, acme.program_id)).data
    }
    assert (other, undone, again) == (0, 1, 0)
    assert [after[each] for each in ids] == ["paid", "pending", "approved"]
    newest = (await acme.store.read(audit.list_entries, acme.program_id)).data[0]
    assert (newest.action, newest.before, newest.after) == ("commission.decide", "approved", "pending")
    with pytest.raises(ValidationError):
        await acme.store.write(*undo, millis=millis, actor=OLGA, at=LATER + timedelta(hours=2))
