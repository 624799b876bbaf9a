"""The log of rejected calls names the coupon code that a lead or sale had"""

from alembic import op

revision = "0060"
down_revision = "0059"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("ALTER TABLE refused_calls ADD COLUMN coupon_code VARCHAR(255)")


def downgrade() -> None:
    op.drop_column("refused_calls", "coupon_code")
