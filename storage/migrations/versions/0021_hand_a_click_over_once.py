"""Hand a click over between a program's domains, once"""

import sqlalchemy as sa
from alembic import op

revision = "0021"
down_revision = "0020"
branch_labels = None
depends_on = None


def upgrade() -> None:
    with op.batch_alter_table("programs", schema=None) as batch_op:
        batch_op.add_column(sa.Column("further_domains", sa.String(length=1024)))
    op.create_table(
        "used_handovers",
        sa.Column("program_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("nonce", sa.String(length=32), nullable=False),
        sa.Column("expires_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("program_id", "nonce", name=op.f("pk_used_handovers")),
    )


def downgrade() -> None:
    op.drop_table("used_handovers")
    with op.batch_alter_table("programs", schema=None) as batch_op:
        batch_op.drop_column("further_domains")
