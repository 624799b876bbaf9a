"""Say who uses a program key"""

import sqlalchemy as sa
from alembic import op

revision = "0023"
down_revision = "0025"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "key_callers",
        sa.Column("program_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("key_hash", sa.String(length=64), nullable=False),
        sa.Column("call", sa.String(length=16), nullable=False),
        sa.Column("user_agent", sa.String(length=160), nullable=False),
        sa.Column("network_hash", sa.String(length=24), nullable=False),
        sa.Column("calls", sa.BigInteger(), nullable=False),
        sa.Column("first_at", sa.BigInteger(), nullable=False),
        sa.Column("last_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint(
            "program_id", "key_hash", "call", "user_agent", "network_hash", name=op.f("pk_key_callers")
        ),
    )


def downgrade() -> None:
    op.drop_table("key_callers")
