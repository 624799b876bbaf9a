"""End links with their reason

A reset link and an invitation name the owner who created them. Reset links from before do not, and end.
"""

import sqlalchemy as sa
from alembic import op

revision = "0035"
down_revision = "0033"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("invitations", sa.Column("created_by", sa.BigInteger(), nullable=True))
    op.add_column("password_resets", sa.Column("created_by", sa.BigInteger(), nullable=True))
    op.execute("DELETE FROM password_resets")


def downgrade() -> None:
    op.drop_column("password_resets", "created_by")
    op.drop_column("invitations", "created_by")
