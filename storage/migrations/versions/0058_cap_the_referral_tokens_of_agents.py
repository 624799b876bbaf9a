"""Owners cap how many referral tokens agent keys issue in a day"""

from alembic import op

revision = "0058"
down_revision = "0057"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("ALTER TABLE agent_caps ADD COLUMN referrals_in_a_day INTEGER")


def downgrade() -> None:
    op.drop_column("agent_caps", "referrals_in_a_day")
