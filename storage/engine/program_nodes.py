"""What a lane knows of Citus: whether each program's rows lie on one node, and how a batch leaves its token there."""

from typing import Any

from sqlalchemy import Connection

from storage.engine.json_rows import DISTRIBUTED

# The statements are prepared once, as those of a plain database are. A batch of an unknown program stores no token.
PREPARE = """PREPARE store_program_token (bigint, text, text, bigint) AS
INSERT INTO program_batches (program_id, lane, token, at)
SELECT program_id, $2, $3, $4 FROM program_places WHERE program_id = $1
ON CONFLICT (program_id, lane) DO UPDATE SET token = excluded.token, at = excluded.at"""
# It waits for a transaction that locks the lane's row of this program, and then reads the committed token.
FIND = """INSERT INTO program_batches (program_id, lane, token, at) VALUES ($1, $2, '', 0)
ON CONFLICT (program_id, lane) DO UPDATE SET lane = excluded.lane RETURNING token"""
_IS_DISTRIBUTED = "SELECT partmethod = 'h' FROM pg_dist_partition WHERE logicalrelid = to_regclass('clicks')"
# A worker that does not respond must not hold up the programs of the others longer than a statement may take.
_IMPATIENT = "SET citus.node_connection_timeout = 2000"


def is_distributed(connection: Connection) -> bool:
    """Return whether the rows of each program lie on the node of that program."""
    return bool(connection.get_execution_options().get(DISTRIBUTED))


async def are_used(driver: Any, *, patient: bool) -> bool:
    """Return whether the database is distributed by program, and prepare the connection for that."""
    if await driver.fetchval("SELECT to_regclass('pg_dist_partition') IS NULL"):
        return False
    distributed = bool(await driver.fetchval(_IS_DISTRIBUTED))
    if distributed and not patient:
        await driver.execute(_IMPATIENT)
    return distributed
