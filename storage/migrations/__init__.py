"""Schema migrations: applied by `svc serve` and `svc admin db upgrade`, one process at a time."""

from collections.abc import Callable
from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, String, column, select, table

from storage.engine import database

_FOLDER = Path(__file__).parent
TOO_NEW = "database_too_new"
# The schemas that no migration begins at, by the version that leads from them to one that has.
_GONE = {
    "version 0.2.0": ("before 0.2.0", range(1, 6)),
    "the development version of 2026-11-22": ("a development version before 0.3.0", (*range(7, 33), 34)),
    "version 0.3.0": ("a development version before 0.3.0", (35, 36)),
    "the development version of 2026-11-24": ("a development version after 0.3.0", range(38, 49)),
}


class UnknownSchemaError(Exception):
    """No migration begins at the schema of the database; `hint` says which version to use."""

    def __init__(self, code: str, message: str, hint: str) -> None:
        super().__init__(message)
        self.code, self.hint = code, hint


async def upgrade(url: str, *, before: Callable[[], None] = lambda: None) -> None:
    """Bring the database at `url` to the newest schema; a no-op when it is there. Raises UnknownSchemaError.

    `before` is called before a schema with tables is changed, by one process at a time.
    """
    lane = database.lanes(database.parse_url(url), patient=True)[0][0]
    try:
        await lane.run(lambda connection: _upgrade(connection, before))
    finally:
        await lane.close()


def is_current(connection: Connection) -> bool:
    """Return whether every migration has been applied."""
    return _revisions(connection) == set(ScriptDirectory.from_config(config_for()).get_heads())


def is_usable(connection: Connection) -> bool:
    """Return whether a running process can go on: the schema is its own, or that of a later version."""
    later = [each for each in _unknown(_revisions(connection)) if _explain(each).code == TOO_NEW]
    return is_current(connection) or bool(later)


def _revisions(connection: Connection) -> set[str]:
    versions = select(column("version_num", String)).select_from(table("alembic_version"))
    return set(connection.execute(versions).scalars())


def _unknown(revisions: set[str]) -> set[str]:
    """Return the revisions of which this version has no migration."""
    return revisions - {script.revision for script in ScriptDirectory.from_config(config_for()).walk_revisions()}


def _upgrade(connection: Connection, before: Callable[[], None]) -> None:
    database.lock_alone(connection, database.MIGRATING)
    stored = set(MigrationContext.configure(connection).get_current_heads())
    for revision in _unknown(stored):
        raise _explain(revision)
    if stored and not is_current(connection):
        before()
    command.upgrade(config_for(connection), "head")


def _explain(revision: str) -> UnknownSchemaError:
    for through, (origin, gone) in _GONE.items():
        if revision in {f"{number:04}" for number in gone}:
            message = f"This database is from {origin} (its schema is {revision})."
            hint = f"Upgrade it with {through} first, then with this one."
            return UnknownSchemaError("database_too_old", message, hint)
    hint = "Install the version that migrated it, or restore the backup from before."
    return UnknownSchemaError(TOO_NEW, "A newer version of the service migrated this database.", hint)


def config_for(connection: Connection | None = None) -> Config:
    """Return Alembic's configuration, for running over an open connection if there is one."""
    config = Config(attributes={"connection": connection})
    config.set_main_option("script_location", str(_FOLDER))
    return config
