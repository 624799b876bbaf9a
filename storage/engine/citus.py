"""What exists for Citus alone: how a lane works where each program's rows lie on one node, and how they get there."""

import re
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from sqlalchemy import Connection, Table, text
from sqlalchemy.schema import AddConstraint, DropConstraint

from storage import tables
from storage.tables import clicks, metadata, partners

DISTRIBUTED = "distributed"  # the option of a connection: rows lie on the node of their program
# A writer reads rows by key. A plan made while the tables were empty would scan them until it is replaced, so writers
# always use indexes and loops, which look up each row, whatever the statistics say. Such plans look costly: no JIT.
# A lane sets this for its connection; the nodes of a cluster need it, too.
BY_KEY = dict.fromkeys(("enable_seqscan", "enable_hashjoin", "enable_mergejoin", "enable_material", "jit"), "off")
# The statements are prepared once, as those of a plain database are. A batch of an unknown program stores no token.
PREPARE = """PREPARE store_program_token (bigint, text, text, bigint) AS
INSERT INTO program_batches (program_id, lane, token, at)
SELECT program_id, $2, $3, $4 FROM program_places WHERE program_id = $1
ON CONFLICT (program_id, lane) DO UPDATE SET token = excluded.token, at = excluded.at"""
# It waits for a transaction that locks the lane's row of this program, and then reads the committed token.
FIND = """INSERT INTO program_batches (program_id, lane, token, at) VALUES ($1, $2, '', 0)
ON CONFLICT (program_id, lane) DO UPDATE SET lane = excluded.lane RETURNING token"""
_PROGRAM = re.compile(r"\.program_id = (\$\d+::BIGINT)")
_SAME_PROGRAM = re.compile(r"\b(\w+\.program_id) = \w+\.program_id\b")
# Citus takes tables that refer to a copied one for "local": it knows them, and they stay where they are.
_PLACED = text("""SELECT logicalrelid::regclass::text AS name, CASE
WHEN partmethod = 'h' THEN 'distributed' WHEN repmodel = 't' THEN 'copied' ELSE 'local' END AS kind
FROM pg_dist_partition""")
# Programs that an older version of the service has created have none.
_FILL_PLACES = text("INSERT INTO program_places (program_id) SELECT id FROM programs ON CONFLICT DO NOTHING")
_IS_DISTRIBUTED = "SELECT partmethod = 'h' FROM pg_dist_partition WHERE logicalrelid = to_regclass('clicks')"
# A worker that does not respond must not hold up the programs of the others longer than a statement may take.
_IMPATIENT = "SET citus.node_connection_timeout = 2000"
# Each node opens a new connection for it, as it does for a batch.
_NODE_SETTINGS = """SELECT nodename || ':' || nodeport AS node, result, success
FROM run_command_on_all_nodes('SELECT string_agg(name || ''='' || setting, '','') FROM pg_settings WHERE name IN ({})')
JOIN pg_dist_node USING (nodeid) ORDER BY 1"""
_NODES = text("""SELECT nodename || ':' || nodeport AS name,
citus_check_connection_to_node(nodename, nodeport) AS responds
FROM pg_dist_node WHERE groupid <> 0 AND noderole = 'primary' ORDER BY 1""")
_WORKERS = text("SELECT count(*) FROM pg_dist_node WHERE isactive AND shouldhaveshards AND noderole = 'primary'")
_SETTINGS = (tables.commission_terms, tables.payment_accounts, tables.agent_caps, tables.currency_rates)
ON_EVERY_NODE = [tables.workspaces, tables.programs, *_SETTINGS]
# On the coordinator: a leaked one is replaced while a worker is down, too.
KEYS = (tables.program_keys, tables.retired_program_keys)
_ELSEWHERE = {*ON_EVERY_NODE, *KEYS, partners, clicks}
_EVENTS = (table for table in metadata.sorted_tables if "program_id" in table.c and table not in _ELSEWHERE)
# The others lie beside partners. Until clicks are distributed, the service takes the database for a plain one.
BY_PROGRAM = [partners, *_EVENTS, clicks]
_OTHERS = [table for table in metadata.sorted_tables if table not in {*ON_EVERY_NODE, *BY_PROGRAM}]
HOW = (
    "Install Citus on each server, put it into shared_preload_libraries, restart, and run CREATE EXTENSION citus in"
    " this database on each. Then call citus_add_node on the coordinator for each worker (docs/operations.md)."
)


class NotPossibleError(Exception):
    """The database cannot be distributed; `hint` says what to do."""

    def __init__(self, message: str, hint: str = HOW) -> None:
        super().__init__(message)
        self.hint = hint


class DistributionStep(NamedTuple):
    """One step, a transaction of its own; None to run where it is done already."""

    title: str
    run: Callable[[Connection], Any] | None
    is_repeated: bool = False  # it changes nothing where nothing is missing


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


def nodes(connection: Connection) -> dict[str, bool]:
    """Return for each worker whether the coordinator can connect to it; nothing for a plain database."""
    return {row.name: row.responds for row in connection.execute(_NODES)} if is_distributed(connection) else {}


def name_program(_connection: Any, _cursor: Any, statement: str, parameters: Any, *_: Any) -> tuple[str, Any]:
    """Before a statement is executed, name its program in subqueries and joins that only follow their outer query.

    Citus sends those to every node: it does not conclude from `a.program_id = 7` and `b.program_id = a.program_id`.
    """
    return _with_program(statement), parameters


@lru_cache(1_000)
def _with_program(statement: str) -> str:
    named = _PROGRAM.search(statement)
    return _SAME_PROGRAM.sub(rf"(\g<0> AND \1 = {named[1]})", statement) if named else statement


def steps(connection: Connection) -> list[DistributionStep]:
    """Return what distributes the database, in order, with what is done already. Raises NotPossibleError."""
    if connection.dialect.name != "postgresql":
        raise NotPossibleError("SQLite cannot be distributed.", "Copy this database to PostgreSQL: svc admin copy.")
    if connection.execute(text("SELECT to_regclass('pg_dist_partition') IS NULL")).scalar_one():
        raise NotPossibleError("This database does not have the extension Citus.")
    if connection.execute(_WORKERS).scalar_one() == 0:
        raise NotPossibleError("The coordinator knows no worker.")
    return list(_steps({row.name: row.kind for row in connection.execute(_PLACED)}))


def missing_settings(connection: Connection) -> list[str]:
    """Return each setting that a node lacks, and each unfinished step of `svc admin db distribute`."""
    if not is_distributed(connection):
        return []
    found = []
    names = ", ".join(f"''{name}''" for name in BY_KEY)
    for row in connection.execute(text(_NODE_SETTINGS.format(names))):
        stored = dict(each.split("=") for each in row.result.split(",")) if row.success else {}
        lacking = [f"{name} = {value}" for name, value in BY_KEY.items() if stored.get(name) != value]
        if lacking:
            found.append(f"node {row.node} lacks {', '.join(lacking)}: run `svc admin db distribute`")
    undone = [step.title for step in steps(connection) if step.run is not None and not step.is_repeated]
    return found + [
        f"the database is not wholly distributed ({each}): run `svc admin db distribute`" for each in undone
    ]


def _steps(placed: Mapping[str, str]) -> Iterator[DistributionStep]:
    is_done = {table.name for table in metadata.sorted_tables} <= placed.keys() and "local" not in {
        placed[table.name] for table in (*ON_EVERY_NODE, *BY_PROGRAM)
    }
    yield DistributionStep("drop foreign keys", None if is_done else _foreign_keys(DropConstraint))
    for name in ("alembic_version", *(table.name for table in ON_EVERY_NODE)):
        copy = _function("create_reference_table", name)
        yield DistributionStep(f"copy {name} to every node", None if placed.get(name) == "copied" else copy)
    yield DistributionStep("give each program a place", lambda each: each.execute(_FILL_PLACES), is_repeated=True)
    for table in BY_PROGRAM:
        options = ", 'program_id', colocate_with := " + ("'none'" if table is partners else "'partners'")
        move = _function("create_distributed_table", table.name, options)
        is_there = placed.get(table.name) == "distributed"
        yield DistributionStep(f"distribute {table.name}", None if is_there else move)
    yield DistributionStep("add foreign keys", _foreign_keys(AddConstraint), is_repeated=True)
    for table in _OTHERS:
        keep = _take_back(table) if table.name in placed else _function("citus_add_local_table_to_metadata", table.name)
        is_there = placed.get(table.name) == "local"
        yield DistributionStep(f"keep {table.name} on the coordinator", None if is_there else keep)
    yield DistributionStep("set what the workers' planners need", _set_role, is_repeated=True)


def _function(function: str, table: str, options: str = "") -> Callable[[Connection], None]:
    """Return what moves a table, with its rows, and gives the space of the moved rows back."""

    def run(connection: Connection) -> None:
        connection.execute(text(f"SELECT {function}('{table}'{options})"))  # names of our own tables
        if function == "create_distributed_table":
            connection.execute(text(f"SELECT truncate_local_data_after_distributing_table('{table}')"))

    return run


def _take_back(table: Table) -> Callable[[Connection], None]:
    """Return what moves a table of an older version from every node to the coordinator alone."""

    def run(connection: Connection) -> None:
        for key in table.foreign_key_constraints:
            connection.execute(DropConstraint(key))
        connection.execute(text(f"SELECT undistribute_table('{table.name}')"))
        for key in table.foreign_key_constraints:
            connection.execute(AddConstraint(key))  # to a table on every node, so Citus knows this one again

    return run


def _foreign_keys(change: type[AddConstraint | DropConstraint]) -> Callable[[Connection], None]:
    """Return what adds the foreign keys of the programs' rows that the database lacks, or drops those that it has."""
    stored = text("SELECT conrelid::regclass::text, conname FROM pg_constraint WHERE contype = 'f' AND conparentid = 0")

    def run(connection: Connection) -> None:
        names = {(row[0], row[1]) for row in connection.execute(stored)}
        for table in BY_PROGRAM[:-1]:  # clicks have none
            for key in sorted(table.foreign_key_constraints, key=lambda key: str(key.name)):
                if ((table.name, str(key.name)) in names) == (change is DropConstraint):
                    connection.execute(change(key))

    return run


def _set_role(connection: Connection) -> None:
    """Let each connection of this role plan as a writing lane does: workers do not get the settings of a lane."""
    database = connection.execute(text("SELECT quote_ident(current_database())")).scalar_one()
    for name, value in BY_KEY.items():
        connection.execute(text(f"ALTER ROLE CURRENT_USER IN DATABASE {database} SET {name} = '{value}'"))
