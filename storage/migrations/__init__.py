"""Schema migrations: applied by `svc serve` and `svc admin db upgrade`, one process at a time."""

from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, String, column, select, table

from storage.engine import database

_FOLDER = Path(__file__).parent


async def upgrade(url: str) -> None:
    """Bring the database at `url` to the newest schema; a no-op when it is there."""
    lane = database.writers(database.parse_url(url), patient=True)[0]
    try:
        await lane.run(_upgrade)
    finally:
        await lane.close()


def is_current(connection: Connection) -> bool:
    """Return whether every migration has been applied."""
    return _revisions(connection) == set(ScriptDirectory.from_config(_config()).get_heads())


def is_usable(connection: Connection) -> bool:
    """Return whether a running process can go on: the schema is its own, or that of a later version."""
    known = {script.revision for script in ScriptDirectory.from_config(_config()).walk_revisions()}
    return is_current(connection) or not _revisions(connection) <= known


def _revisions(connection: Connection) -> set[str]:
    versions = select(column("version_num", String)).select_from(table("alembic_version"))
    return set(connection.execute(versions).scalars())


def _upgrade(connection: Connection) -> None:
    database.lock_migrations(connection)
    command.upgrade(config_for(connection), "head")


def config_for(connection: Connection) -> Config:
    """Return Alembic's configuration for running over an open connection."""
    config = _config()
    config.attributes["connection"] = connection
    return config


def _config() -> Config:
    config = Config()
    config.set_main_option("script_location", str(_FOLDER))
    return config
