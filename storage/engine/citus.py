"""What exists for Citus alone: how a lane works where each program's rows lie on one node, and how they get there."""

import re
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from sqlalchemy import Connection, Table, inspect, text
from sqlalchemy.schema import AddConstraint, DropConstraint

from storage import tables
from storage.tables import clicks, metadata, partners

DISTRIBUTED = "distributed"  # the option of a connection: rows lie on the node of their program
# A writer reads rows by key. A plan made while the tables were empty would scan them until it is replaced, so writers
# always use indexes and loops, which look up each row, whatever the statistics say. Such plans look costly: no JIT.
# A lane sets this for its connection; the nodes of a cluster need it, too.
BY_KEY = dict.fromkeys(("enable_seqscan", "enable_hashjoin", "enable_mergejoin", "enable_material", "jit"), "off")


def parts_of(name: str) -> dict[str, str]:
    """Return the parts of a file of SQL beside this one, each after its name."""
    content = Path(__file__).with_name(f"{name}.sql").read_text(encoding="utf-8")
    return dict(re.findall(r"^-- (\w+)\n((?:[^\n]+\n)+)", content, re.MULTILINE))


SQL = parts_of("postgres")
_PROGRAM = re.compile(r"\.program_id = (\$\d+::BIGINT)")
# Citus does not conclude from `a.program_id = 7` and `b.program_id = a.program_id`, and would ask every node.
_SAME_PROGRAM = re.compile(r"\b(\w+\.program_id) = \w+\.program_id\b")
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

    code = "cannot_distribute"

    def __init__(self, message: str, hint: str = HOW) -> None:
        super().__init__(message)
        self.hint = hint


class DistributionStep(NamedTuple):
    title: str
    run: Callable[[Connection], Any] | None  # a transaction of its own; None: it is done already
    is_repeated: bool = False  # it changes nothing where nothing is missing


def is_distributed(connection: Connection) -> bool:
    """Return whether the rows of each program lie on the node of that program."""
    return bool(connection.get_execution_options().get(DISTRIBUTED))


async def are_used(driver: Any, *, patient: bool) -> bool:
    """Return whether the database is distributed by program, and prepare the connection for that."""
    if await driver.fetchval(SQL["lacks_citus"]):
        return False
    distributed = bool(await driver.fetchval(SQL["is_distributed"]))
    if distributed and not patient:
        await driver.execute(SQL["be_impatient"])
    return distributed


def nodes(connection: Connection) -> dict[str, bool]:
    """Return for each worker whether the coordinator can connect to it; nothing for a plain database."""
    found = connection.execute(text(SQL["nodes"])) if is_distributed(connection) else ()
    return {row.name: row.responds for row in found}


def name_program(_connection: Any, _cursor: Any, statement: str, parameters: Any, *_: Any) -> tuple[str, Any]:
    """Before a statement is executed, name its program in subqueries and joins that only follow their outer query."""
    return _with_program(statement), parameters


@lru_cache(1_000)
def _with_program(statement: str) -> str:
    named = _PROGRAM.search(statement)
    return _SAME_PROGRAM.sub(rf"(\g<0> AND \1 = {named[1]})", statement) if named else statement


def steps(connection: Connection) -> list[DistributionStep]:
    """Return what distributes the database, in order, with what is done already. Raises NotPossibleError."""
    if connection.dialect.name != "postgresql":
        raise NotPossibleError("SQLite cannot be distributed.", "Copy this database to PostgreSQL: svc admin copy.")
    if connection.execute(text(SQL["lacks_citus"])).scalar_one():
        raise NotPossibleError("This database does not have the extension Citus.")
    if connection.execute(text(SQL["workers"])).scalar_one() == 0:
        raise NotPossibleError("The coordinator knows no worker.")
    return list(_steps({row.name: row.kind for row in connection.execute(text(SQL["placed"]))}))


def missing_settings(connection: Connection) -> list[str]:
    """Return each setting that a node lacks, and each unfinished step of `svc admin db distribute`."""
    if not is_distributed(connection):
        return []
    found = []
    names = ", ".join(f"''{name}''" for name in BY_KEY)
    for row in connection.execute(text(SQL["node_settings"].format(names))):
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
    yield DistributionStep(
        "give each program a place", lambda each: each.execute(text(SQL["fill_places"])), is_repeated=True
    )
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

    def run(connection: Connection) -> None:
        names = {(row[0], row[1]) for row in connection.execute(text(SQL["foreign_keys"]))}
        there = inspect(connection).get_table_names()
        for table in BY_PROGRAM[:-1]:  # clicks have none
            for key in sorted(table.foreign_key_constraints, key=lambda key: str(key.name)):
                if table.name in there and ((table.name, str(key.name)) in names) == (change is DropConstraint):
                    connection.execute(change(key))

    return run


def _set_role(connection: Connection) -> None:
    """Let each connection of this role plan as a writing lane does: workers do not get the settings of a lane."""
    database = connection.execute(text("SELECT quote_ident(current_database())")).scalar_one()
    for name, value in BY_KEY.items():
        connection.execute(text(f"ALTER ROLE CURRENT_USER IN DATABASE {database} SET {name} = '{value}'"))
