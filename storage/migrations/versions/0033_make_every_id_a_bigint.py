"""Make every id a BIGINT

On a distributed PostgreSQL each node assigns ids from a range of its own, and rows of one program lie together.
"""

from itertools import groupby
from operator import itemgetter

import sqlalchemy as sa
from alembic import op

revision = "0033"
down_revision = "0031"
branch_labels = None
depends_on = None

IDS = ("workspaces", "users", "programs", "agent_keys", "invitations")


def upgrade() -> None:
    if op.get_bind().dialect.name == "postgresql":  # SQLite's integers have no size
        _widen()
    op.create_table(
        "program_places",
        sa.Column("program_id", _id_type(), autoincrement=False, nullable=False),
        sa.ForeignKeyConstraint(["program_id"], ["programs.id"], name=op.f("fk_program_places_program_id")),
        sa.PrimaryKeyConstraint("program_id", name=op.f("pk_program_places")),
    )
    op.execute("INSERT INTO program_places (program_id) SELECT id FROM programs")
    op.create_table(
        "program_batches",
        sa.Column("program_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("lane", sa.String(length=32), nullable=False),
        sa.Column("token", sa.String(length=32), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("program_id", "lane", name=op.f("pk_program_batches")),
    )


def downgrade() -> None:
    op.drop_table("program_batches")
    op.drop_table("program_places")
    # the wider types serve the older version, too


def _id_type() -> sa.types.TypeEngine[int]:
    return sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def _widen() -> None:
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
