"""Accept the links of another tool in a program that says so"""

import sqlalchemy as sa
from alembic import op

revision = "0029"
down_revision = "0023"
branch_labels = None
depends_on = None


def upgrade() -> None:
    with op.batch_alter_table("programs", schema=None) as batch_op:
        batch_op.add_column(sa.Column("old_links", sa.String(length=16), server_default="none", nullable=False))


def downgrade() -> None:
    with op.batch_alter_table("programs", schema=None) as batch_op:
        batch_op.drop_column("old_links")
