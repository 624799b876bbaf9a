"""Say which request made a refund, so that a second run of it is rejected"""

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("refunds", sa.Column("request_id", sa.String(length=64), nullable=True))
    op.create_index("ix_refunds_request", "refunds", ["program_id", "request_id"], unique=True)


def downgrade() -> None:
    op.drop_index("ix_refunds_request", table_name="refunds")
    op.drop_column("refunds", "request_id")
