"""Let assistants sign in"""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "assistant_clients",
        sa.Column("client_id", sa.String(length=512), nullable=False),
        sa.Column("name", sa.String(length=255), nullable=False),
        sa.Column("redirect_uris", sa.Text(), nullable=False),
        sa.Column("kept_at", sa.BigInteger(), nullable=False),
        sa.Column("used_at", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("client_id", name=op.f("pk_assistant_clients")),
    )
    op.create_table(
        "assistants",
        sa.Column("id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("client_id", sa.String(length=512), nullable=False),
        sa.Column("name", sa.String(length=255), nullable=False),
        sa.Column("host", sa.String(length=255), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("workspace_id", sa.Integer(), nullable=False),
        sa.Column("scopes", sa.Text(), nullable=False),
        sa.Column("program_ids", sa.Text(), nullable=False),
        sa.Column("resource", sa.Text(), nullable=False),
        sa.Column("redirect_uri", sa.Text(), nullable=False),
        sa.Column("code_challenge", sa.String(length=128), nullable=False),
        sa.Column("connected_at", sa.BigInteger(), nullable=False),
        sa.Column("last_used_at", sa.BigInteger(), nullable=True),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_assistants_user_id")),
        sa.ForeignKeyConstraint(["workspace_id"], ["workspaces.id"], name=op.f("fk_assistants_workspace_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_assistants")),
    )
    with op.batch_alter_table("assistants", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_assistants_client_id"), ["client_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_assistants_user_id"), ["user_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_assistants_workspace_id"), ["workspace_id"], unique=False)

    op.create_table(
        "assistant_tokens",
        sa.Column("token_hash", sa.String(length=64), nullable=False),
        sa.Column("assistant_id", sa.BigInteger(), nullable=False),
        sa.Column("kind", sa.String(length=8), nullable=False),
        sa.Column("scopes", sa.Text(), nullable=False),
        sa.Column("expires_at", sa.BigInteger(), nullable=False),
        sa.Column("spent_at", sa.BigInteger(), nullable=True),
        sa.ForeignKeyConstraint(["assistant_id"], ["assistants.id"], name=op.f("fk_assistant_tokens_assistant_id")),
        sa.PrimaryKeyConstraint("token_hash", name=op.f("pk_assistant_tokens")),
    )
    with op.batch_alter_table("assistant_tokens", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_assistant_tokens_assistant_id"), ["assistant_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_assistant_tokens_expires_at"), ["expires_at"], unique=False)


def downgrade() -> None:
    with op.batch_alter_table("assistant_tokens", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_assistant_tokens_expires_at"))
        batch_op.drop_index(batch_op.f("ix_assistant_tokens_assistant_id"))

    op.drop_table("assistant_tokens")
    with op.batch_alter_table("assistants", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_assistants_workspace_id"))
        batch_op.drop_index(batch_op.f("ix_assistants_user_id"))
        batch_op.drop_index(batch_op.f("ix_assistants_client_id"))

    op.drop_table("assistants")
    op.drop_table("assistant_clients")
