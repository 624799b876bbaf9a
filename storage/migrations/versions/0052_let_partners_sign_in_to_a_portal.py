"""Let partners sign in to a portal"""

import sqlalchemy as sa
from alembic import op


revision = "0052"
down_revision = "0051"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "partner_applications",
        sa.Column("program_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("name", sa.String(length=512), nullable=False),
        sa.Column("email", sa.String(length=255), nullable=False),
        sa.Column("site", sa.String(length=512), nullable=False),
        sa.Column("reason", sa.Text(), nullable=True),
        sa.Column("state", sa.String(length=16), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("decided_by", sa.String(length=512), nullable=True),
        sa.Column("decided_at", sa.BigInteger(), nullable=True),
        sa.Column("partner_id", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("program_id", "id", name=op.f("pk_partner_applications")),
    )
    op.create_index(
        "ix_partner_applications_waiting",
        "partner_applications",
        ["program_id", "email"],
        unique=True,
        sqlite_where=sa.text("state = 'waiting'"),
        postgresql_where=sa.text("state = 'waiting'"),
    )

    op.create_table(
        "portal_accounts",
        sa.Column("program_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("partner_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("mails_payments", sa.Boolean(), server_default="1", nullable=False),
        sa.Column("mails_summaries", sa.Boolean(), server_default="1", nullable=False),
        sa.Column("summarized_on", sa.Date(), nullable=False),
        *_of_partners("portal_accounts"),
        sa.PrimaryKeyConstraint("program_id", "partner_id", name=op.f("pk_portal_accounts")),
    )
    op.create_table(
        "portal_tokens",
        sa.Column("program_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("token_hash", sa.String(length=64), nullable=False),
        sa.Column("kind", sa.String(length=8), nullable=False),
        sa.Column("partner_id", sa.BigInteger(), nullable=False),
        sa.Column("email", sa.String(length=255), nullable=False),
        sa.Column("browser_hash", sa.String(length=64), nullable=True),
        sa.Column("client", sa.String(length=255), nullable=True),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("expires_at", sa.BigInteger(), nullable=False),
        sa.Column("used_at", sa.BigInteger(), nullable=True),
        *_of_partners("portal_tokens"),
        sa.PrimaryKeyConstraint("program_id", "token_hash", name=op.f("pk_portal_tokens")),
    )
    op.create_index("ix_portal_tokens_partner", "portal_tokens", ["program_id", "partner_id"])
    op.create_index("ix_portal_tokens_token_hash", "portal_tokens", ["token_hash"])

    op.create_table(
        "sale_questions",
        sa.Column("program_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("partner_id", sa.BigInteger(), nullable=False),
        sa.Column("sold_on", sa.Date(), nullable=False),
        sa.Column("transaction_id", sa.String(length=255), nullable=False),
        sa.Column("note", sa.Text(), nullable=True),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("answer", sa.Text(), nullable=True),
        sa.Column("answered_by", sa.String(length=512), nullable=True),
        sa.Column("answered_at", sa.BigInteger(), nullable=True),
        *_of_partners("sale_questions"),
        sa.PrimaryKeyConstraint("program_id", "id", name=op.f("pk_sale_questions")),
    )
    op.create_index(
        "ix_sale_questions_open",
        "sale_questions",
        ["program_id"],
        sqlite_where=sa.text("answered_at IS NULL"),
        postgresql_where=sa.text("answered_at IS NULL"),
    )
    op.create_index("ix_sale_questions_partner", "sale_questions", ["program_id", "partner_id"])

    op.add_column("programs", sa.Column("partners_see_amounts", sa.Boolean(), server_default="0", nullable=False))
    op.add_column("programs", sa.Column("partners_may_apply", sa.Boolean(), server_default="0", nullable=False))


def downgrade() -> None:
    op.drop_column("programs", "partners_may_apply")
    op.drop_column("programs", "partners_see_amounts")
    for name in ("sale_questions", "portal_tokens", "portal_accounts", "partner_applications"):
        op.drop_table(name)


def _of_partners(table: str) -> list[sa.ForeignKeyConstraint]:
    """On a distributed database `svc admin db distribute` adds them when it has moved the tables."""
    connection = op.get_bind()
    if connection.dialect.name == "postgresql":
        placed = connection.execute(sa.text("SELECT to_regclass('pg_dist_partition') IS NOT NULL")).scalar_one()
        if placed:
            return []
    name = op.f(f"fk_{table}_program_id_partner_id")
    return [sa.ForeignKeyConstraint(["program_id", "partner_id"], ["partners.program_id", "partners.id"], name=name)]
