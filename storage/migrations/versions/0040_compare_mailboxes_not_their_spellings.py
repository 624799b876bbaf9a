"""Compare mailboxes, not their spellings"""

import sqlalchemy as sa
from alembic import op


revision = "0040"
down_revision = "0039"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("customers", sa.Column("mailbox_hash", sa.String(length=64), nullable=True))
    op.create_index("ix_customers_mailbox", "customers", ["program_id", "mailbox_hash"])


def downgrade() -> None:
    op.drop_index("ix_customers_mailbox", table_name="customers")
    op.drop_column("customers", "mailbox_hash")
