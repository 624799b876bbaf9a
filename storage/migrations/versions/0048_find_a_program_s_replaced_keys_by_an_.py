"""Find a program's replaced keys by an index"""

from alembic import op


revision = "0048"
down_revision = "0047"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_index("ix_retired_program_keys_program_id", "retired_program_keys", ["program_id"])


def downgrade() -> None:
    op.drop_index("ix_retired_program_keys_program_id", table_name="retired_program_keys")
