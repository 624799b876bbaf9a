"""Keep rejected calls for a replay

What a replay needs of a rejected call is kept, encrypted, as long as the log has it. An owner can say that a replaced key
was leaked: no call with it is kept from then on.
"""

from alembic import op

revision = "0053"
down_revision = "0052"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute(
        "CREATE TABLE kept_calls (program_id BIGINT NOT NULL, id BIGINT NOT NULL, call VARCHAR(16) NOT NULL,"
        " code VARCHAR(64) NOT NULL, state VARCHAR(16) NOT NULL, sealed TEXT, caller VARCHAR(192), tried_at BIGINT,"
        " at BIGINT NOT NULL, CONSTRAINT pk_kept_calls PRIMARY KEY (program_id, id))"
    )
    op.execute("CREATE INDEX ix_kept_calls_state ON kept_calls (program_id, state, tried_at, id)")
    op.execute("ALTER TABLE retired_program_keys ADD COLUMN leaked_at BIGINT")


def downgrade() -> None:
    op.drop_column("retired_program_keys", "leaked_at")
    op.drop_table("kept_calls")
