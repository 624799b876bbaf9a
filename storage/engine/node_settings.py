"""What the planners of a distributed database's nodes need, and which node lacks it."""

from sqlalchemy import Connection, text

from storage.engine import distribution
from storage.engine.postgres_lane import BY_KEY
from storage.engine.program_nodes import is_distributed

# Each node opens a new connection for it, as it does for a batch.
_SETTINGS = """SELECT nodename || ':' || nodeport AS node, result, success
FROM run_command_on_all_nodes('SELECT string_agg(name || ''='' || setting, '','') FROM pg_settings WHERE name IN ({})')
JOIN pg_dist_node USING (nodeid) ORDER BY 1"""


def missing(connection: Connection) -> list[str]:
    """Return each setting that a node lacks, and each unfinished step of `svc admin db distribute`; [] if all is well.

    A plain database needs nothing.
    """
    if not is_distributed(connection):
        return []
    found = []
    names = ", ".join(f"''{name}''" for name in BY_KEY)
    for row in connection.execute(text(_SETTINGS.format(names))):
        stored = dict(each.split("=") for each in row.result.split(",")) if row.success else {}
        lacking = [f"{name} = {value}" for name, value in BY_KEY.items() if stored.get(name) != value]
        if lacking:
            found.append(f"node {row.node} lacks {', '.join(lacking)}: run `svc admin db distribute`")
    steps = [step.title for step in distribution.steps(connection) if step.run is not None and not step.is_repeated]
    return [
        *found,
        *(f"the database is not wholly distributed ({step}): run `svc admin db distribute`" for step in steps),
    ]
