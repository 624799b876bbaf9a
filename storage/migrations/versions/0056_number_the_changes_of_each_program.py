"""Number the changes of each program

The feed of changes starts with the first transaction after the migration. What processes of earlier versions change
meanwhile is not in it.
"""

from alembic import op

revision = "0056"
down_revision = "0055"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute(
        "CREATE TABLE changes (program_id BIGINT NOT NULL, seq BIGINT NOT NULL, kind VARCHAR(64) NOT NULL,"
        " label VARCHAR(64) NOT NULL, number BIGINT NOT NULL, cents BIGINT NOT NULL, ids TEXT NOT NULL, at BIGINT NOT NULL,"
        " CONSTRAINT pk_changes PRIMARY KEY (program_id, seq))"
    )
    op.execute(
        "CREATE TABLE change_counters (program_id BIGINT NOT NULL, seq BIGINT NOT NULL, at BIGINT NOT NULL,"
        " CONSTRAINT pk_change_counters PRIMARY KEY (program_id))"
    )


def downgrade() -> None:
    for table in ("changes", "change_counters"):
        op.drop_table(table)
