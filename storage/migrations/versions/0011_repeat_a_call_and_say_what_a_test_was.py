"""Repeat a tracking call by its Idempotency-Key, and say what a test event was about"""

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "idempotent_calls",
        sa.Column("program_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("idempotency_key", sa.String(length=255), nullable=False),
        sa.Column("request_hash", sa.String(length=64), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("program_id", "idempotency_key", name=op.f("pk_idempotent_calls")),
    )
    with op.batch_alter_table("test_events", schema=None) as batch_op:
        batch_op.add_column(sa.Column("event_name", sa.Text()))
        batch_op.add_column(sa.Column("customer_key", sa.String(length=255)))
        batch_op.add_column(sa.Column("click_id", sa.String(length=255)))
        batch_op.add_column(sa.Column("email_mask", sa.String(length=255)))


def downgrade() -> None:
    with op.batch_alter_table("test_events", schema=None) as batch_op:
        for name in ("email_mask", "click_id", "customer_key", "event_name"):
            batch_op.drop_column(name)
    op.drop_table("idempotent_calls")
