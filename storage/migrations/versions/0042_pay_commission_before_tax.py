"""Pay commission before tax

Programs from before go on paying on the whole amount of a sale.
"""

import sqlalchemy as sa
from alembic import op

revision = "0042"
down_revision = "0041"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column(
        "commission_terms", sa.Column("commission_basis", sa.String(16), nullable=False, server_default="total")
    )
    for name in ("tax_cents", "shipping_cents"):
        op.add_column("sales", sa.Column(name, sa.BigInteger(), nullable=False, server_default="0"))


def downgrade() -> None:
    op.drop_column("sales", "shipping_cents")
    op.drop_column("sales", "tax_cents")
    op.drop_column("commission_terms", "commission_basis")
