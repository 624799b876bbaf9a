"""Name the client of a session, reset passwords by a link, and add a second factor"""

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0016"
branch_labels = None
depends_on = None


def upgrade() -> None:
    with op.batch_alter_table("sessions", schema=None) as batch_op:
        batch_op.add_column(sa.Column("client", sa.String(length=255)))
    with op.batch_alter_table("device_logins", schema=None) as batch_op:
        batch_op.add_column(sa.Column("interval_seconds", sa.Integer(), server_default="2", nullable=False))
    op.create_table(
        "password_resets",
        sa.Column("token_hash", sa.String(length=64), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("expires_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_password_resets_user_id")),
        sa.PrimaryKeyConstraint("token_hash", name=op.f("pk_password_resets")),
        sa.UniqueConstraint("user_id", name=op.f("uq_password_resets_user_id")),
    )
    op.create_table(
        "second_factors",
        sa.Column("user_id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("sealed_secret", sa.Text(), nullable=False),
        sa.Column("last_step", sa.BigInteger(), nullable=False),
        sa.Column("confirmed_at", sa.BigInteger(), nullable=True),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_second_factors_user_id")),
        sa.PrimaryKeyConstraint("user_id", name=op.f("pk_second_factors")),
    )
    op.create_table(
        "recovery_codes",
        sa.Column("user_id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("code_hash", sa.String(length=64), nullable=False),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_recovery_codes_user_id")),
        sa.PrimaryKeyConstraint("user_id", "code_hash", name=op.f("pk_recovery_codes")),
    )


def downgrade() -> None:
    for name in ("recovery_codes", "second_factors", "password_resets"):
        op.drop_table(name)
    with op.batch_alter_table("device_logins", schema=None) as batch_op:
        batch_op.drop_column("interval_seconds")
    with op.batch_alter_table("sessions", schema=None) as batch_op:
        batch_op.drop_column("client")
