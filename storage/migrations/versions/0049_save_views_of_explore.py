"""Save views of Explore"""

import sqlalchemy as sa
from alembic import op


revision = "0049"
down_revision = "0048"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "saved_views",
        sa.Column("program_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("name", sa.String(length=160), nullable=False),
        sa.Column("query", sa.String(length=2048), nullable=False),
        sa.Column("shared_until", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("program_id", "id", name=op.f("pk_saved_views")),
    )


def downgrade() -> None:
    op.drop_table("saved_views")
