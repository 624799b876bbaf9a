"""Partition clicks by month, and make every id a BIGINT

On PostgreSQL: the table becomes the partition of all clicks up to now, without being copied. Its index is built again,
because ids now compare byte by byte. The foreign key to partners goes: each batch of clicks reads their partners, and
`svc admin db check` finds a click without one. On a distributed PostgreSQL each node assigns ids from a range of its own.
"""

from datetime import UTC, datetime
from itertools import groupby
from operator import itemgetter

import sqlalchemy as sa
from alembic import op

revision = "0033"
down_revision = "0028"
branch_labels = None
depends_on = None

FOREIGN_KEY = "fk_clicks_program_id_partner_id"
UNFILLED = "CREATE INDEX ix_clicks_unfilled ON clicks (program_id, click_id) WHERE dimensions IS NULL"
BUILT = "clicks_by_bytes"  # the index that docs/operations.md lets an operator build before
MONTHS_AHEAD = 3
IDS = ("workspaces", "users", "programs", "agent_keys", "invitations")


def upgrade() -> None:
    if op.get_bind().dialect.name == "postgresql":  # SQLite's integers have no size
        partition_clicks()
        widen_ids()


def downgrade() -> None:
    """Gather the clicks again; the wider ids serve the older version, too."""
    if op.get_bind().dialect.name == "postgresql":
        gather_clicks()


def partition_clicks() -> None:
    connection = op.get_bind()
    op.drop_constraint(FOREIGN_KEY, "clicks")
    is_built = connection.execute(sa.text(f"SELECT to_regclass('{BUILT}')")).scalar() is not None
    if is_built:
        op.drop_constraint("pk_clicks", "clicks")
    compare_ids("C")
    if is_built:
        op.execute(f"ALTER TABLE clicks ADD CONSTRAINT pk_clicks PRIMARY KEY USING INDEX {BUILT}")
    is_empty = connection.execute(sa.text("SELECT 1 FROM clicks LIMIT 1")).first() is None
    now = datetime.now(UTC)
    month = now.year * 12 + now.month - (1 if is_empty else 0)  # the first one with a partition of its own
    op.execute("ALTER TABLE clicks RENAME TO clicks_before")
    op.execute("ALTER TABLE clicks_before RENAME CONSTRAINT pk_clicks TO pk_clicks_before")
    op.execute("ALTER INDEX ix_clicks_unfilled RENAME TO ix_clicks_before_unfilled")
    op.execute("CREATE TABLE clicks (LIKE clicks_before INCLUDING DEFAULTS) PARTITION BY RANGE (click_id)")
    op.execute("ALTER TABLE clicks ADD CONSTRAINT pk_clicks PRIMARY KEY (program_id, click_id)")
    op.execute(UNFILLED)
    op.execute("CREATE TABLE clicks_other PARTITION OF clicks DEFAULT")
    for each in range(month, now.year * 12 + now.month + MONTHS_AHEAD):
        name, span = f"clicks_{each // 12}{each % 12 + 1:02}", f"FROM ('{first_id(each)}') TO ('{first_id(each + 1)}')"
        op.execute(f"CREATE TABLE {name} PARTITION OF clicks FOR VALUES {span}")
    later = f"DELETE FROM clicks_before WHERE click_id >= '{first_id(month)}' RETURNING *"  # noqa: S608
    op.execute(f"WITH later AS ({later}) INSERT INTO clicks SELECT * FROM later")  # noqa: S608
    op.execute(f"ALTER TABLE clicks ATTACH PARTITION clicks_before FOR VALUES FROM (MINVALUE) TO ('{first_id(month)}')")


def gather_clicks() -> None:
    op.execute("CREATE TABLE clicks_all (LIKE clicks INCLUDING DEFAULTS)")
    op.execute("INSERT INTO clicks_all SELECT * FROM clicks")
    op.execute("DROP TABLE clicks")
    op.execute("ALTER TABLE clicks_all RENAME TO clicks")
    compare_ids("default")
    op.execute("ALTER TABLE clicks ADD CONSTRAINT pk_clicks PRIMARY KEY (program_id, click_id)")
    op.execute(UNFILLED)
    op.create_foreign_key(FOREIGN_KEY, "clicks", "partners", ["program_id", "partner_id"], ["program_id", "id"])


def compare_ids(collation: str) -> None:
    for table in ("customers", "clicks"):
        op.execute(f'ALTER TABLE {table} ALTER COLUMN click_id TYPE VARCHAR(64) COLLATE "{collation}"')


def first_id(month: int) -> str:
    """Return what the ids of a month begin with at the least; months count from the year 0."""
    begin = datetime(month // 12, month % 12 + 1, 1, tzinfo=UTC)
    return f"{int(begin.timestamp() * 1000):012x}"


def widen_ids() -> None:
    """Widen the ids that the database assigns, and every column that refers to one."""
    columns = {(table, "id") for table in IDS} | {("commissions", "approved_by_key_id")}
    inspected = sa.inspect(op.get_bind())
    for table in inspected.get_table_names():
        for key in inspected.get_foreign_keys(table):
            if key["referred_table"] in IDS and key["referred_columns"] == ["id"]:
                columns.add((table, key["constrained_columns"][0]))
    for table, names in groupby(sorted(columns), key=itemgetter(0)):
        changes = ", ".join(f"ALTER COLUMN {name} TYPE BIGINT" for _, name in names)
        op.execute(f"ALTER TABLE {table} {changes}")
    for table in IDS:
        op.execute(f"ALTER SEQUENCE {table}_id_seq AS BIGINT")
