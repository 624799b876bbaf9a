"""Mark a payment account's events of the test mode"""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    with op.batch_alter_table("payment_events", schema=None) as batch_op:
        batch_op.add_column(sa.Column("is_test", sa.Boolean(), server_default="0", nullable=False))


def downgrade() -> None:
    with op.batch_alter_table("payment_events", schema=None) as batch_op:
        batch_op.drop_column("is_test")
