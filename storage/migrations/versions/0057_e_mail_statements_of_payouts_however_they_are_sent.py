"""E-mail statements of payouts, however they are sent"""

from alembic import op

revision = "0057"
down_revision = "0056"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("ALTER TABLE payout_lines ADD COLUMN mail_is_due BOOLEAN DEFAULT '0' NOT NULL")
    op.execute("CREATE INDEX ix_payout_lines_mail ON payout_lines (program_id, number) WHERE mail_is_due")


def downgrade() -> None:
    op.execute("DROP INDEX ix_payout_lines_mail")
    op.drop_column("payout_lines", "mail_is_due")
