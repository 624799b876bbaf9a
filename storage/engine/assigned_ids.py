"""The ids that the database assigns: none is given out twice, also not in a copy of the database."""

from sqlalchemy import Connection, text

from storage.tables import metadata

TABLES = [table.name for table in metadata.sorted_tables if table.autoincrement_column is not None]
_LAST = {
    "sqlite": "SELECT seq FROM sqlite_sequence WHERE name = '{0}'",
    "postgresql": "SELECT pg_sequence_last_value(pg_get_serial_sequence('{0}', 'id')::regclass)",
}
_GO_ON = {
    "sqlite": "UPDATE sqlite_sequence SET seq = :largest WHERE name = '{0}'",
    "postgresql": "SELECT setval(pg_get_serial_sequence('{0}', 'id'), :largest)",
}


def largest(connection: Connection) -> dict[str, int]:
    """Return the largest id that each table has ever assigned, and at least that of its rows.

    On a distributed database, rows have ids that other nodes assigned.
    """
    found = {}
    for table in TABLES:
        last = _LAST[connection.dialect.name].format(table)
        ids = text(f"SELECT ({last}), max(id) FROM {table}")  # noqa: S608 - names of our own tables
        found[table] = max(each or 0 for each in connection.execute(ids).one())
    return found


def go_on_above(connection: Connection, largest_ids: dict[str, int]) -> None:
    """Let each table assign ids above these and above those that it has ever assigned itself."""
    for table, own in largest(connection).items():
        if past := max(own, largest_ids[table]):
            connection.execute(text(_GO_ON[connection.dialect.name].format(table)), {"largest": past})
