"""Note things about a partner"""

import sqlalchemy as sa
from alembic import op

revision = "0031"
down_revision = "0034"
branch_labels = None
depends_on = None


def upgrade() -> None:
    with op.batch_alter_table("partners", schema=None) as batch_op:
        batch_op.add_column(sa.Column("notes", sa.Text(), nullable=True))


def downgrade() -> None:
    with op.batch_alter_table("partners", schema=None) as batch_op:
        batch_op.drop_column("notes")
