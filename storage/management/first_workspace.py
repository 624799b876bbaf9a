"""The first workspace of an empty database: its owner, a program with a key, and a partner, all in one transaction."""

from datetime import datetime
from typing import NamedTuple

from sqlalchemy import Connection

from storage.access import program_keys, sessions, workspaces
from storage.access.program_keys import NewKey
from storage.access.sessions import Started
from storage.engine import database
from storage.engine.audit import Actor
from storage.management import partners, program_settings
from storage.rules.errors import Forbidden
from storage.rules.settings import ProgramSettings


class FirstWorkspace(NamedTuple):
    """What the person who sets the service up has chosen."""

    name: str
    owner_email: str
    password_hash: str
    settings: ProgramSettings
    partner_name: str
    partner_code: str


class SetUp(NamedTuple):
    """The new program, its key, and the owner's session; the key and the session's token are shown once."""

    program_id: int
    key: NewKey
    session: Started


def create(connection: Connection, chosen: FirstWorkspace, *, client: str | None, at: datetime) -> SetUp:
    """Create everything and sign the owner in; of two at once, one succeeds.

    Raises Forbidden if there is a workspace, and CurrencyNotSupported.
    """
    database.lock_set_up(connection)
    if workspaces.exist(connection):
        raise Forbidden("This server is set up already.")
    email = chosen.owner_email.lower()
    workspace_id, user_id = workspaces.create(
        connection, chosen.name, owner_email=email, password_hash=chosen.password_hash, at=at
    )
    actor = Actor("user", str(user_id), email)
    program_id = program_settings.create(connection, workspace_id, chosen.settings, at=at, actor=actor)
    key = program_keys.regenerate(connection, program_id, at=at, actor=actor)
    partners.enrol(connection, program_id, name=chosen.partner_name, code=chosen.partner_code, at=at, actor=actor)
    return SetUp(program_id, key, sessions.start(connection, user_id, client=client, at=at))
