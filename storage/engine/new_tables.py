"""Tables that have filled since they were made: the plans that PostgreSQL cached for them are those of empty ones."""

from sqlalchemy import Connection, text

_FILLED = text("""
    SELECT relid::regclass::text FROM pg_stat_user_tables JOIN pg_class ON pg_class.oid = relid
    WHERE reltuples < 0 AND n_live_tup BETWEEN 200 AND 1000000 ORDER BY relid
""")  # a larger one takes long, and is not planned as if it were empty


def analyze(connection: Connection) -> list[str]:
    """Have PostgreSQL look at the tables that have rows and that it has never looked at; return their names.

    All indexes of a program's rows begin with the program. For an empty table each costs the same, and the writers'
    plan may read all rows of the program for each item, until autovacuum comes, which takes a minute or more. ANALYZE
    replaces the plan (PostgreSQL, PREPARE). SQLite keeps no such plans: it returns none.
    """
    if connection.dialect.name != "postgresql":
        return []
    names = list(connection.execute(_FILLED).scalars())
    for name in names:
        connection.execute(text(f"ANALYZE {name}"))
    return names
