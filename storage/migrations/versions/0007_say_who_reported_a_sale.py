"""Say who reported a sale, and derive a rejected call's status from its code"""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    with op.batch_alter_table("sales", schema=None) as batch_op:
        batch_op.add_column(sa.Column("provenance", sa.String(length=16), server_default="api", nullable=False))
    op.execute(
        "UPDATE sales SET provenance = 'processor' WHERE EXISTS (SELECT 1 FROM payment_references AS known "
        "WHERE known.program_id = sales.program_id AND known.transaction_id = sales.transaction_id "
        "AND known.reference = sales.transaction_id)"
    )
    with op.batch_alter_table("refused_calls", schema=None) as batch_op:
        batch_op.drop_column("status")


def downgrade() -> None:
    with op.batch_alter_table("refused_calls", schema=None) as batch_op:
        batch_op.add_column(sa.Column("status", sa.Integer(), server_default="400", nullable=False))
    with op.batch_alter_table("sales", schema=None) as batch_op:
        batch_op.drop_column("provenance")
