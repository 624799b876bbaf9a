"""Take partner codes that differ in case or final punctuation for one

Of partners whose codes are one by now, the first enrolled has it in every spelling. The others keep their codes as they
are: `code_key` is NULL, and links with exactly their code go on naming them.
"""

import re

import sqlalchemy as sa
from alembic import op


revision = "0043"
down_revision = "0042"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("partners", sa.Column("code_key", sa.String(length=255), nullable=True))
    row = sa.table("partners", *map(sa.column, ("program_id", "id", "code", "code_key")))
    connection, firsts = op.get_bind(), {}
    codes = sa.select(row.c.program_id, row.c.code, row.c.id).order_by(row.c.program_id, row.c.id)
    for program_id, code, partner_id in connection.execute(codes):
        firsts.setdefault((program_id, re.sub(r"[\W_]+$", "", code).lower() or code), partner_id)
    named = (row.c.program_id == sa.bindparam("program"), row.c.id == sa.bindparam("partner"))
    for (program_id, key), partner_id in firsts.items():
        values = {"program": program_id, "partner": partner_id, "key": key}
        connection.execute(sa.update(row).where(*named).values(code_key=sa.bindparam("key")), values)
    op.create_index("ix_partners_code_key", "partners", ["program_id", "code_key"], unique=True)


def downgrade() -> None:
    op.drop_index("ix_partners_code_key", table_name="partners")
    op.drop_column("partners", "code_key")
