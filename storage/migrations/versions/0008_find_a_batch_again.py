"""Find a batch again whose COMMIT was not answered"""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "committed_batches",
        sa.Column("lane", sa.String(length=32), nullable=False),
        sa.Column("token", sa.String(length=32), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("lane", name=op.f("pk_committed_batches")),
    )


def downgrade() -> None:
    op.drop_table("committed_batches")
