"""A matrix over time: random steps, and after each every credential ever made is asked for everything."""

import sqlite3
from contextlib import closing
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import run_state_machine_as_test
from sqlalchemy import select, update

from storage.access import agent_keys, assistants, program_keys, sessions
from storage.access.workspaces import Role
from storage.management import program_settings
from storage.rules import keys
from storage.rules.settings import ProgramSettings
from storage.tables import agent_keys as agent_keys_table
from storage.tables import assistants as assistants_table
from tests.security.asking import SCOPES
from tests.security.machine import PICK, pick, step
from tests.security.people import People
from tests.security.rights import Event, Grant, Kind
from tests.storage.access.test_assistants import ASKED
from tests.world import NOW

FOREVER = NOW + timedelta(days=10_000)


class RightsOverTime(People):
    """Programs, and what was given out for them, beside the people."""

    @step(workspace=PICK)
    def create_program(self, workspace: int) -> None:
        workspace_id = pick({each for each, _ in self.rights.members}, workspace)
        chosen = ProgramSettings(name="A program", domain="acme.example")
        program_id = self.do(program_settings.create, workspace_id, chosen, **self.by())
        self.rights.programs[self.assigned("programs", program_id)] = workspace_id
        self.rotate(program=len(self.rights.programs) - 1)

    @step(program=PICK)
    def rotate(self, program: int) -> None:
        program_id, workspace_id = pick(self.rights.programs.items(), program)
        new = self.do(program_keys.regenerate, program_id, **self.by())
        self.rights.happens(Event("the program key is replaced", workspace_id=workspace_id, program_id=program_id))
        named = frozenset({program_id})
        self.give(new.api_token, Grant(Kind.PROGRAM_KEY, FOREVER, workspace_id=workspace_id, programs=named))

    @step(program=PICK)
    def delete_program(self, program: int) -> None:
        program_id = pick(sorted(self.rights.programs, reverse=True), program)
        self.do(program_settings.delete_program, program_id, **self.by())
        self.rights.delete(program_id)

    def named(self, workspace_id: int, number: int) -> frozenset[int]:
        """Return some of a workspace's programs."""
        mine = [each for each, workspace in self.rights.programs.items() if workspace == workspace_id]
        return frozenset(each for place, each in enumerate(mine) if number >> place & 1)

    @step(gives=True, workspace=PICK, some=PICK, scopes=st.integers(1, 2))
    def issue_agent_key(self, workspace: int, some: int, scopes: int) -> None:
        workspace_id = pick({each for each, _ in self.rights.members}, workspace)
        named, about = self.named(workspace_id, some), {"name": "An agent", "scopes": SCOPES[:scopes], "at": self.at}
        issued = self.do(agent_keys.issue, workspace_id, program_ids=sorted(named), **about)
        grant: dict[str, Any] = {"workspace_id": workspace_id, "scopes": frozenset(SCOPES[:scopes])}
        grant["of"] = str(self.assigned("agent_keys", issued.id))
        self.give(issued.secret, Grant(Kind.AGENT_KEY, FOREVER, programs=named or None, **grant))

    @step(key=PICK)
    def revoke_agent_key(self, key: int) -> None:
        of = pick(self.rights.of(Kind.AGENT_KEY).values(), key).of
        self.do(agent_keys.revoke, int(of), at=self.at)
        self.rights.end(Kind.AGENT_KEY, of)

    @step(gives=True, session=PICK, some=PICK)
    def connect_an_assistant(self, session: int, some: int) -> None:
        token, signed_in = pick(self.rights.of(Kind.SESSION).items(), session)
        visitor = self.do(sessions.identify, keys.digest(token), at=self.at)
        workspace_id = pick(visitor.memberships, some).workspace_id
        named = self.named(workspace_id, some) or self.named(workspace_id, 1)
        asked = ASKED._replace(scopes=SCOPES)
        code = self.do(assistants.connect, asked, visitor=visitor, program_ids=sorted(named), at=self.at)
        about = {"workspace_id": workspace_id, "programs": named, "scopes": frozenset(SCOPES), "of": self.newest()}
        until = self.at + assistants.CODE_LIFETIME
        self.give(code, Grant(Kind.ASSISTANT, until, signed_in.user_id, **about))

    def newest(self) -> str:
        return str(self.do(lambda connection: max(connection.execute(select(assistants_table.c.id)).scalars())))

    @step(token=PICK, scopes=st.integers(1, 2))
    def exchange_or_refresh(self, token: int, scopes: int) -> None:
        wanted = (keys.CODE_PREFIX, keys.REFRESH_PREFIX)
        spent, grant = pick([each for each in self.rights.of(Kind.ASSISTANT).items() if each[0][:4] in wanted], token)
        of_code = (assistants.CODE, SCOPES)
        kind, chosen = of_code if spent.startswith(keys.CODE_PREFIX) else (assistants.REFRESH, SCOPES[:scopes])
        about = {"client_id": ASKED.client_id, "scopes": chosen, "at": self.at}
        tokens = self.do(assistants.exchange, spent, kind, **about)
        if tokens is not None:
            del self.rights.grants[spent]
            until = self.at + assistants.REFRESH_LIFETIME
            self.give(tokens.refresh, replace(grant, until=until))
            until = self.at + assistants.ACCESS_LIFETIME
            self.give(tokens.access, replace(grant, until=until, scopes=frozenset(chosen)))

    @step(assistant=PICK, is_stolen=st.booleans())
    def end_an_assistant(self, *, assistant: int, is_stolen: bool) -> None:
        token, grant = pick(self.rights.of(Kind.ASSISTANT).items(), assistant)
        about = {"client_id": ASKED.client_id, "at": self.at}
        if is_stolen and token.startswith(keys.REFRESH_PREFIX):
            for _ in range(2):
                self.do(assistants.exchange, token, assistants.REFRESH, scopes=SCOPES, **about)
        else:
            self.do(assistants.revoke, token, **about)
        if grant.until > self.at and self.rights.may(token, self.at):
            self.rights.end(Kind.ASSISTANT, grant.of)

    @step(kind=st.sampled_from([Kind.ASSISTANT, Kind.AGENT_KEY]), grant=PICK, program=PICK)
    def find_a_grant_of_an_old_release(self, kind: Kind, grant: int, program: int) -> None:
        """Databases hold grants that name programs of other workspaces, from when ids were given out twice."""
        held = pick([each for each in self.rights.of(kind).values() if each.programs], grant)
        foreign = pick([each for each, owner in self.rights.programs.items() if owner != held.workspace_id], program)
        table = assistants_table if kind == Kind.ASSISTANT else agent_keys_table
        named = (held.programs or frozenset()) | {foreign}
        row = update(table).where(table.c.id == int(held.of)).values(program_ids=" ".join(map(str, sorted(named))))
        self.do(lambda connection: connection.execute(row))
        for token, each in self.rights.of(kind, held.of).items():
            self.rights.grants[token] = replace(each, programs=named)


def begin(machine: RightsOverTime) -> None:
    """Make two workspaces, whose owners and members are partly the same, and credentials of each kind."""
    for number in range(2):
        machine.create_workspace(email=number)
        machine.create_program(workspace=number)
        machine.add_member(workspace=number, email=number + 1, role=Role.OWNER)
        machine.invite(workspace=number, email=4, role=Role.MEMBER, owner=1)
        machine.issue_agent_key(workspace=number, some=1, scopes=1)
    for _ in range(2):
        machine.create_program(workspace=0)
    machine.delete_program(program=0)
    machine.add_member(workspace=0, email=3, role=Role.MEMBER)
    for user in (0, 1, 4):
        machine.sign_in(user=user)
        machine.approve_a_device(user=user)
    for session in (0, 2):
        machine.connect_an_assistant(session=session, some=1)
        machine.exchange_or_refresh(token=0, scopes=2)
    machine.make_reset_link(member=0, way="mail", owner=0)
    machine.make_reset_link(member=4, way="owner", owner=0)


def test_no_credential_outlives_its_reason(sqlite_template: Path):
    with closing(sqlite3.connect(sqlite_template)) as file:
        file.execute("PRAGMA journal_mode = DELETE")
        RightsOverTime.template = file.serialize()
    machine = RightsOverTime()
    begin(machine)
    RightsOverTime.first = (machine.raw.serialize(), machine.rights, machine.made)
    assert {each.kind for each in machine.rights.grants.values()} == {*Kind}
    assert {each.kind for each in machine.rights.grants.values() if each.made_by} == {Kind.RESET, Kind.INVITATION}

    runs = settings().max_examples // 2
    steps = max(12, runs // 2)
    run_state_machine_as_test(RightsOverTime, settings=settings(max_examples=runs, stateful_step_count=steps))
