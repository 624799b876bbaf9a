"""Say who proved an address and end idle sessions

An account may have several reset links: one that is sent to its mailbox does not end the others.
"""

import sqlalchemy as sa
from alembic import op

revision = "0038"
down_revision = "0037"
branch_labels = None
depends_on = None

ADDED = (
    ("users", "email_proven_at", sa.BigInteger()),
    ("sessions", "used_at", sa.BigInteger()),
    ("invitations", "mailed_hash", sa.String(64)),
    ("password_resets", "usable_at", sa.BigInteger()),
)
ONE_FOR_EACH, SEVERAL = "uq_password_resets_user_id", "ix_password_resets_user_id"


def upgrade() -> None:
    for table, name, kind in ADDED:
        op.add_column(table, sa.Column(name, kind, nullable=True))
    is_mailed = sa.Column("is_mailed", sa.Boolean(), server_default=sa.false(), nullable=False)
    op.add_column("password_resets", is_mailed)
    with op.batch_alter_table("password_resets") as resets:
        resets.drop_constraint(ONE_FOR_EACH, type_="unique")
        resets.create_index(SEVERAL, ["user_id"])


def downgrade() -> None:
    op.execute("DELETE FROM password_resets")
    with op.batch_alter_table("password_resets") as resets:
        resets.drop_index(SEVERAL)
        resets.create_unique_constraint(ONE_FOR_EACH, ["user_id"])
        resets.drop_column("is_mailed")
    for table, name, _ in ADDED:
        op.drop_column(table, name)
