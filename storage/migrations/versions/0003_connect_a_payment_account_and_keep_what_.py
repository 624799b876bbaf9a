"""Connect a payment account and keep what it sends"""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "payment_events",
        sa.Column("program_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("event_id", sa.String(length=255), nullable=False),
        sa.Column("id", sa.BigInteger(), nullable=False),
        sa.Column("type", sa.String(length=64), nullable=False),
        sa.Column("outcome", sa.String(length=64), nullable=False),
        sa.Column("transaction_id", sa.String(length=255), nullable=True),
        sa.Column("waits_for", sa.String(length=255), nullable=True),
        sa.Column("payment", sa.Text(), nullable=True),
        sa.Column("occurred_at", sa.BigInteger(), nullable=False),
        sa.Column("received_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("program_id", "event_id", name=op.f("pk_payment_events")),
    )
    with op.batch_alter_table("payment_events", schema=None) as batch_op:
        batch_op.create_index("ix_payment_events_newest", ["program_id", "id"], unique=True)
        batch_op.create_index("ix_payment_events_waiting", ["program_id", "waits_for"], unique=False)

    op.create_table(
        "payment_references",
        sa.Column("program_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("reference", sa.String(length=255), nullable=False),
        sa.Column("transaction_id", sa.String(length=255), nullable=False),
        sa.PrimaryKeyConstraint("program_id", "reference", name=op.f("pk_payment_references")),
    )
    with op.batch_alter_table("payment_references", schema=None) as batch_op:
        batch_op.create_index("ix_payment_references_transaction", ["program_id", "transaction_id"], unique=False)

    op.create_table(
        "payment_returns",
        sa.Column("program_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("reference", sa.String(length=255), nullable=False),
        sa.Column("return_id", sa.String(length=255), nullable=False),
        sa.Column("kind", sa.String(length=16), nullable=False),
        sa.Column("amount_cents", sa.BigInteger(), nullable=False),
        sa.Column("stands", sa.Boolean(), nullable=False),
        sa.Column("told_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("program_id", "reference", "return_id", name=op.f("pk_payment_returns")),
    )
    op.create_table(
        "payment_accounts",
        sa.Column("program_id", sa.Integer(), nullable=False),
        sa.Column("provider", sa.String(length=16), nullable=False),
        sa.Column("account_id", sa.String(length=255), nullable=False),
        sa.Column("sealed_secrets", sa.Text(), nullable=False),
        sa.Column("connected_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["program_id"], ["programs.id"], name=op.f("fk_payment_accounts_program_id")),
        sa.PrimaryKeyConstraint("program_id", name=op.f("pk_payment_accounts")),
    )
    op.create_table(
        "payment_customers",
        sa.Column("program_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("processor_customer", sa.String(length=255), nullable=False),
        sa.Column("click_id", sa.String(length=64), nullable=False),
        sa.ForeignKeyConstraint(
            ["program_id", "click_id"],
            ["customers.program_id", "customers.click_id"],
            name=op.f("fk_payment_customers_program_id_click_id"),
        ),
        sa.PrimaryKeyConstraint("program_id", "processor_customer", name=op.f("pk_payment_customers")),
    )


def downgrade() -> None:
    op.drop_table("payment_customers")
    op.drop_table("payment_accounts")
    op.drop_table("payment_returns")
    with op.batch_alter_table("payment_references", schema=None) as batch_op:
        batch_op.drop_index("ix_payment_references_transaction")

    op.drop_table("payment_references")
    with op.batch_alter_table("payment_events", schema=None) as batch_op:
        batch_op.drop_index("ix_payment_events_waiting")
        batch_op.drop_index("ix_payment_events_newest")

    op.drop_table("payment_events")
