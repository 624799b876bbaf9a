"""Say how far clicks are deleted"""

import sqlalchemy as sa
from alembic import op

revision = "0024"
down_revision = "0027"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "click_retention",
        sa.Column("program_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("deleted_before", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("program_id", name=op.f("pk_click_retention")),
    )


def downgrade() -> None:
    op.drop_table("click_retention")
