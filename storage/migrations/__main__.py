"""Write the next migration from what the models have become: `python -m storage.migrations "What changes for whom"`."""

import asyncio
import sys
import tempfile

from alembic import command
from alembic.script import ScriptDirectory
from sqlalchemy import Connection

from storage import migrations
from storage.engine import database


async def write(message: str) -> None:
    """Bring an empty database to the newest migration, compare the models with it, and write the difference."""
    with tempfile.TemporaryDirectory() as folder:
        url = f"sqlite+aiosqlite:///{folder}/empty.db"
        await migrations.upgrade(url)
        lane = database.writers(database.parse_url(url))[0]
        try:
            await lane.run(lambda connection: _write(connection, message))
        finally:
            await lane.close()


def _write(connection: Connection, message: str) -> None:
    config = migrations.config_for(connection)
    highest = max(int(script.revision) for script in ScriptDirectory.from_config(config).walk_revisions())
    command.revision(config, message, autogenerate=True, rev_id=f"{highest + 1:04}")


if __name__ == "__main__":
    asyncio.run(write(" ".join(sys.argv[1:])))
