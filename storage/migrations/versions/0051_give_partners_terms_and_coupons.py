"""Give partners and groups of partners terms of their own, and credit partners by coupons

The terms from before are the program's, and apply to every partner.
"""

import sqlalchemy as sa
from alembic import op

revision = "0051"
down_revision = "0050"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("commission_terms", sa.Column("partner_id", sa.BigInteger()))
    op.add_column("commission_terms", sa.Column("partner_group", sa.String(64)))
    op.add_column("commission_terms", sa.Column("ended_at", sa.BigInteger()))
    op.add_column("partners", sa.Column("partner_group", sa.String(64)))
    op.add_column("partners", sa.Column("terms_version", sa.Integer()))
    op.create_index("ix_partners_group", "partners", ["program_id", "partner_group"])
    op.add_column("programs", sa.Column("coupon_wins", sa.String(16), nullable=False, server_default="click"))
    op.create_table(
        "coupons",
        sa.Column("program_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("partner_id", sa.BigInteger(), nullable=False),
        sa.Column("code", sa.String(255), nullable=False),
        sa.Column("code_key", sa.String(255), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("ended_at", sa.BigInteger()),
        sa.PrimaryKeyConstraint("program_id", "id", name=op.f("pk_coupons")),
        sa.UniqueConstraint("program_id", "code_key", name=op.f("uq_coupons_program_id_code_key")),
        sa.ForeignKeyConstraint(
            ["program_id", "partner_id"],
            ["partners.program_id", "partners.id"],
            name=op.f("fk_coupons_program_id_partner_id"),
        ),
    )
    op.create_index("ix_coupons_partner", "coupons", ["program_id", "partner_id"])


def downgrade() -> None:
    op.drop_table("coupons")
    op.drop_column("programs", "coupon_wins")
    op.drop_index("ix_partners_group", "partners")
    op.drop_column("partners", "terms_version")
    op.drop_column("partners", "partner_group")
    op.drop_column("commission_terms", "ended_at")
    op.drop_column("commission_terms", "partner_group")
    op.drop_column("commission_terms", "partner_id")
