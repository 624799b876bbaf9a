"""Give each program a sandbox"""

from alembic import op

revision = "0018"
down_revision = "0014"
branch_labels = None
depends_on = None

REFERENCE = "INTEGER CONSTRAINT fk_programs_sandbox_of_programs REFERENCES programs (id)"


def upgrade() -> None:
    op.execute(f"ALTER TABLE programs ADD COLUMN sandbox_of {REFERENCE}")  # SQLite adds a reference in no other way
    op.create_index("ix_programs_sandbox_of", "programs", ["sandbox_of"], unique=True)


def downgrade() -> None:
    op.drop_index("ix_programs_sandbox_of", "programs")
    with op.batch_alter_table("programs", schema=None) as batch_op:
        batch_op.drop_column("sandbox_of")
