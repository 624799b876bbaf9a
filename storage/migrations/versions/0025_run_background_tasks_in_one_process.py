"""Run background tasks in one process"""

import sqlalchemy as sa
from alembic import op

revision = "0025"
down_revision = "0030"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "recurring_tasks",
        sa.Column("name", sa.String(length=64), nullable=False),
        sa.Column("started_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_recurring_tasks")),
    )


def downgrade() -> None:
    op.drop_table("recurring_tasks")
