"""Keep what a rejected call was worth, and whether it repeated a recorded sale"""

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0008"
branch_labels = None
depends_on = None


def upgrade() -> None:
    with op.batch_alter_table("refused_calls", schema=None) as batch_op:
        batch_op.add_column(sa.Column("amount_cents", sa.BigInteger(), nullable=True))
        batch_op.add_column(sa.Column("currency", sa.String(length=3), nullable=True))
        batch_op.add_column(sa.Column("same_payload", sa.Boolean(), nullable=True))


def downgrade() -> None:
    with op.batch_alter_table("refused_calls", schema=None) as batch_op:
        batch_op.drop_column("same_payload")
        batch_op.drop_column("currency")
        batch_op.drop_column("amount_cents")
