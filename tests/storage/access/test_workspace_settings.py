"""What people and owners choose about how pages look, and the programs that they can switch to."""

import pytest

from storage.access import preferences, workspace_settings
from storage.access.preferences import Preferences, Theme, TimeFormat
from storage.access.workspace_settings import WorkspaceSettings
from storage.engine import audit
from storage.engine.audit import OPERATOR
from storage.management import program_choices
from storage.rules.errors import NotFound
from storage.rules.images import Image
from tests import world
from tests.world import NOW, World

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
