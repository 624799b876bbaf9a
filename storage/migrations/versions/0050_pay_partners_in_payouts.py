"""Pay partners in payouts"""

import sqlalchemy as sa
from alembic import op


revision = "0050"
down_revision = "0049"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("partners", sa.Column("minimum_payout_cents", sa.BigInteger(), nullable=True))
    op.add_column("programs", sa.Column("minimum_payout_cents", sa.BigInteger(), server_default="0", nullable=False))
    op.add_column("programs", sa.Column("confirm_payouts", sa.Boolean(), server_default="0", nullable=False))
    op.create_table(
        "payouts",
        sa.Column("program_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("state", sa.String(length=16), nullable=False),
        sa.Column("earned_until", sa.Date(), nullable=False),
        sa.Column("minimum_cents", sa.BigInteger(), nullable=True),
        sa.Column("left_out", sa.Text(), nullable=False),
        sa.Column("created_by", sa.String(length=512), nullable=False),
        sa.Column("created_by_id", sa.String(length=80), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("confirmed_by", sa.String(length=512), nullable=True),
        sa.Column("confirmed_at", sa.BigInteger(), nullable=True),
        sa.Column("paid_on", sa.Date(), nullable=True),
        sa.Column("reference", sa.String(length=255), nullable=True),
        sa.Column("sent_by", sa.String(length=512), nullable=True),
        sa.Column("sent_at", sa.BigInteger(), nullable=True),
        sa.Column("reopened_at", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("program_id", "id", name=op.f("pk_payouts")),
    )
    is_draft = sa.text("state = 'draft'")
    drafts = {"sqlite_where": is_draft, "postgresql_where": is_draft}
    op.create_index("ix_payouts_draft", "payouts", ["program_id"], unique=True, **drafts)
    op.create_table(
        "payout_lines",
        sa.Column("program_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("payout_id", sa.BigInteger(), nullable=False),
        sa.Column("partner_id", sa.BigInteger(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=True),
        sa.Column("state", sa.String(length=16), nullable=False),
        sa.Column("commissions", sa.Integer(), nullable=False),
        sa.Column("approved_cents", sa.BigInteger(), nullable=False),
        sa.Column("set_off_cents", sa.BigInteger(), nullable=False),
        sa.Column("adjusted_cents", sa.BigInteger(), nullable=False),
        sa.Column("to_pay_cents", sa.BigInteger(), nullable=False),
        sa.Column("method", sa.String(length=16), nullable=True),
        sa.Column("method_sealed", sa.Text(), nullable=True),
        sa.Column("method_masked", sa.String(length=255), nullable=True),
        sa.Column("method_changed_at", sa.BigInteger(), nullable=True),
        sa.Column("failure", sa.Text(), nullable=True),
        sa.Column("corrects_id", sa.BigInteger(), nullable=True),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        *_references("payout_lines", payout_id="payouts", partner_id="partners"),
        sa.PrimaryKeyConstraint("program_id", "id", name=op.f("pk_payout_lines")),
    )
    op.create_index("ix_payout_lines_number", "payout_lines", ["program_id", "number"], unique=True)
    op.create_index("ix_payout_lines_payout", "payout_lines", ["program_id", "payout_id", "partner_id"])
    op.create_index("ix_payout_lines_partner", "payout_lines", ["program_id", "partner_id"])
    op.create_index("ix_payout_lines_corrects", "payout_lines", ["program_id", "corrects_id"], unique=True)
    op.create_table(
        "payout_items",
        sa.Column("program_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("payout_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("partner_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("commission_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("net_cents", sa.BigInteger(), nullable=False),
        sa.Column("is_live", sa.Boolean(), nullable=False),
        *_references("payout_items", commission_id="commissions"),
        sa.PrimaryKeyConstraint("program_id", "payout_id", "partner_id", "commission_id", name=op.f("pk_payout_items")),
    )
    live = {"sqlite_where": sa.text("is_live"), "postgresql_where": sa.text("is_live")}
    op.create_index("ix_payout_items_live", "payout_items", ["program_id", "commission_id"], unique=True, **live)
    op.create_table(
        "payout_methods",
        sa.Column("program_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("partner_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("kind", sa.String(length=16), nullable=False),
        sa.Column("sealed", sa.Text(), nullable=False),
        sa.Column("masked", sa.String(length=255), nullable=False),
        sa.Column("changed_at", sa.BigInteger(), nullable=False),
        sa.Column("held_until", sa.BigInteger(), nullable=False),
        sa.Column("release_reason", sa.Text(), nullable=True),
        *_references("payout_methods", partner_id="partners"),
        sa.PrimaryKeyConstraint("program_id", "partner_id", name=op.f("pk_payout_methods")),
    )


def downgrade() -> None:
    for name in ("payout_methods", "payout_items", "payout_lines", "payouts"):
        op.drop_table(name)
    op.drop_column("programs", "confirm_payouts")
    op.drop_column("programs", "minimum_payout_cents")
    op.drop_column("partners", "minimum_payout_cents")


def _references(table: str, **named: str) -> list[sa.ForeignKeyConstraint]:
    """On a distributed database `svc admin db distribute` adds them when it has moved the tables."""
    connection = op.get_bind()
    if connection.dialect.name == "postgresql":
        placed = connection.execute(sa.text("SELECT to_regclass('pg_dist_partition') IS NOT NULL")).scalar_one()
        if placed:
            return []
    return [
        sa.ForeignKeyConstraint(
            ["program_id", column],
            [f"{target}.program_id", f"{target}.id"],
            name=op.f(f"fk_{table}_program_id_{column}"),
        )
        for column, target in named.items()
    ]
