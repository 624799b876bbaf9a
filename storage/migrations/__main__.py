"""Write the next migration from what the models have become: `python -m storage.migrations "What changes for whom"`."""

import asyncio
import sys
import tempfile

from alembic import command
from alembic.script import ScriptDirectory
from sqlalchemy import create_engine

from storage import migrations


def write(message: str) -> None:
    """Bring an empty database to the newest migration, compare the models with it, and write the difference."""
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(migrations.upgrade(f"sqlite+aiosqlite:///{folder}/empty.db"))
        with create_engine(f"sqlite:///{folder}/empty.db").connect() as connection:
            config = migrations.config_for(connection)
            highest = max(int(script.revision) for script in ScriptDirectory.from_config(config).walk_revisions())
            command.revision(config, message, autogenerate=True, rev_id=f"{highest + 1:04}")


if __name__ == "__main__":
    write(" ".join(sys.argv[1:]))
