"""Credit sales and partners by hand

Commissions and ledger entries from before have neither.
"""

import sqlalchemy as sa
from alembic import op

revision = "0044"
down_revision = "0043"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("commissions", sa.Column("credited_by", sa.String(512)))
    op.add_column("ledger_entries", sa.Column("reason", sa.Text()))


def downgrade() -> None:
    op.drop_column("ledger_entries", "reason")
    op.drop_column("commissions", "credited_by")
