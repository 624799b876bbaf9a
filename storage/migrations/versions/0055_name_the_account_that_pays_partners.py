"""Name the account from which partners are paid"""

import sqlalchemy as sa
from alembic import op


revision = "0055"
down_revision = "0054"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("programs", sa.Column("payer_iban", sa.String(length=34), nullable=True))


def downgrade() -> None:
    op.drop_column("programs", "payer_iban")
