"""Save how people want to see pages

An account has a name, a theme and a time format; a workspace a time zone and a logo.
"""

import sqlalchemy as sa
from alembic import op

revision = "0032"
down_revision = "0029"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("users", sa.Column("name", sa.String(length=255), nullable=True))
    op.add_column("users", sa.Column("theme", sa.String(length=16), nullable=False, server_default="system"))
    op.add_column("users", sa.Column("time_format", sa.String(length=16), nullable=False, server_default="24"))
    op.add_column("workspaces", sa.Column("time_zone", sa.String(length=64), nullable=False, server_default="UTC"))
    op.add_column("workspaces", sa.Column("logo_version", sa.String(length=16), nullable=True))
    op.create_table(
        "workspace_logos",
        sa.Column("workspace_id", sa.Integer(), nullable=False),
        sa.Column("media_type", sa.String(length=32), nullable=False),
        sa.Column("content", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(
            ["workspace_id"], ["workspaces.id"], name=op.f("fk_workspace_logos_workspace_id_workspaces")
        ),
        sa.PrimaryKeyConstraint("workspace_id", name=op.f("pk_workspace_logos")),
    )


def downgrade() -> None:
    op.drop_table("workspace_logos")
    op.drop_column("workspaces", "logo_version")
    op.drop_column("workspaces", "time_zone")
    op.drop_column("users", "time_format")
    op.drop_column("users", "theme")
    op.drop_column("users", "name")
