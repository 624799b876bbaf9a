"""Limit what agent keys may pay and change, and say which key approved a commission"""

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None

APPROVALS = """
UPDATE commissions SET approved_by_key_id = (
  SELECT max(CAST(actor_id AS INTEGER)) FROM audit_entries
  WHERE audit_entries.program_id = commissions.program_id AND audit_entries.actor_type = 'agent_key'
  AND audit_entries.action = 'commission.decide' AND audit_entries.after = '"approved"'
  AND audit_entries.subject_id = CAST(commissions.id AS VARCHAR(64))
) WHERE status = 'approved'
"""


def upgrade() -> None:
    op.add_column("commissions", sa.Column("approved_by_key_id", sa.Integer(), nullable=True))
    op.add_column("commission_terms", sa.Column("by_agent", sa.Boolean(), server_default=sa.false(), nullable=False))
    op.create_table(
        "agent_caps",
        sa.Column("program_id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("frozen_settings", sa.Text(), nullable=True),
        sa.Column("rate_step_bps", sa.Integer(), nullable=True),
        sa.Column("rate_change_in_30_days_bps", sa.Integer(), nullable=True),
        sa.Column("highest_rate_bps", sa.Integer(), nullable=True),
        sa.Column("highest_flat_rate_cents", sa.BigInteger(), nullable=True),
        sa.Column("highest_lead_commission_cents", sa.BigInteger(), nullable=True),
        sa.Column("two_keys_to_pay", sa.Boolean(), nullable=True),
        sa.ForeignKeyConstraint(["program_id"], ["programs.id"], name=op.f("fk_agent_caps_program_id")),
        sa.PrimaryKeyConstraint("program_id", name=op.f("pk_agent_caps")),
    )
    op.execute(APPROVALS)


def downgrade() -> None:
    op.drop_table("agent_caps")
    with op.batch_alter_table("commission_terms", schema=None) as batch_op:
        batch_op.drop_column("by_agent")
    with op.batch_alter_table("commissions", schema=None) as batch_op:
        batch_op.drop_column("approved_by_key_id")
