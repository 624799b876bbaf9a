"""Save what a click carries, and the flags that signs of fraud raise"""

import sqlalchemy as sa
from alembic import op

revision = "0016"
down_revision = "0012"
branch_labels = None
depends_on = None


def upgrade() -> None:
    with op.batch_alter_table("clicks", schema=None) as batch_op:
        batch_op.add_column(sa.Column("referrer_host", sa.String(length=253)))
        batch_op.add_column(sa.Column("ad_markers", sa.String(length=128)))
        batch_op.add_column(sa.Column("address_hash", sa.String(length=24)))
    with op.batch_alter_table("leads", schema=None) as batch_op:
        batch_op.add_column(sa.Column("address_hash", sa.String(length=24)))
    with op.batch_alter_table("programs", schema=None) as batch_op:
        batch_op.add_column(sa.Column("paid_ads", sa.String(length=16), server_default="allowed", nullable=False))
    op.create_index("ix_customers_email", "customers", ["program_id", "email_hash"])
    op.create_table(
        "flags",
        sa.Column("program_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("kind", sa.String(length=32), nullable=False),
        sa.Column("subject", sa.String(length=128), nullable=False),
        sa.Column("partner_id", sa.BigInteger(), nullable=False),
        sa.Column("customer_id", sa.BigInteger(), nullable=True),
        sa.Column("commission_id", sa.BigInteger(), nullable=True),
        sa.Column("evidence", sa.Text(), nullable=False),
        sa.Column("state", sa.String(length=16), nullable=False),
        sa.Column("held_from", sa.BigInteger(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("decided_at", sa.BigInteger(), nullable=True),
        sa.Column("decided_by", sa.String(length=512), nullable=True),
        sa.Column("decision_reason", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(
            ["program_id", "partner_id"],
            ["partners.program_id", "partners.id"],
            name=op.f("fk_flags_program_id_partner_id"),
        ),
        sa.PrimaryKeyConstraint("program_id", "id", name=op.f("pk_flags")),
        sa.UniqueConstraint("program_id", "kind", "subject", name=op.f("uq_flags_program_id_kind_subject")),
    )
    op.create_index("ix_flags_partner", "flags", ["program_id", "partner_id"])


def downgrade() -> None:
    op.drop_table("flags")
    op.drop_index("ix_customers_email", table_name="customers")
    with op.batch_alter_table("programs", schema=None) as batch_op:
        batch_op.drop_column("paid_ads")
    with op.batch_alter_table("leads", schema=None) as batch_op:
        batch_op.drop_column("address_hash")
    with op.batch_alter_table("clicks", schema=None) as batch_op:
        for name in ("address_hash", "ad_markers", "referrer_host"):
            batch_op.drop_column(name)
