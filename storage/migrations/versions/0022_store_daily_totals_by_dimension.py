"""Store daily totals by dimension"""

import sqlalchemy as sa
from alembic import op

revision = "0022"
down_revision = "0024"
branch_labels = None
depends_on = None


def upgrade() -> None:
    with op.batch_alter_table("rollups", schema=None) as batch_op:
        batch_op.add_column(sa.Column("changes", sa.BigInteger(), server_default="0", nullable=False))
    op.create_table(
        "dimension_rollups",
        sa.Column("program_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("dimension", sa.String(length=16), nullable=False),
        sa.Column("day", sa.Date(), nullable=False),
        sa.Column("totals", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("program_id", "dimension", "day", name=op.f("pk_dimension_rollups")),
    )
    op.create_table(
        "grouped_days",
        sa.Column("program_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("day", sa.Date(), nullable=False),
        sa.Column("phase", sa.String(length=8), nullable=False),
        sa.Column("until", sa.String(length=64), nullable=False),
        sa.Column("clicks", sa.BigInteger(), nullable=False),
        sa.Column("changes", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("program_id", "day", name=op.f("pk_grouped_days")),
    )


def downgrade() -> None:
    op.drop_table("grouped_days")
    op.drop_table("dimension_rollups")
    with op.batch_alter_table("rollups", schema=None) as batch_op:
        batch_op.drop_column("changes")
