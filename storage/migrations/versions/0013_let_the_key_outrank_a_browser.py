"""Let a lead with the program key outrank what a browser claimed, and let small orders earn nothing"""

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0015"
branch_labels = None
depends_on = None

_KEYED = """
UPDATE customers SET confirmed = true WHERE EXISTS (
    SELECT 1 FROM leads
    WHERE leads.program_id = customers.program_id AND leads.customer_id = customers.id AND leads.with_key
)
"""


def upgrade() -> None:
    op.add_column("customers", sa.Column("confirmed", sa.Boolean(), server_default=sa.false(), nullable=False))
    with op.batch_alter_table("leads", schema=None) as batch_op:
        batch_op.add_column(sa.Column("outranked_by", sa.BigInteger(), nullable=True))
        batch_op.add_column(sa.Column("outranked_at", sa.BigInteger(), nullable=True))
        batch_op.create_index("ix_leads_outranked_by", ["program_id", "outranked_by"])
    op.execute(_KEYED)
    minimum = sa.Column("minimum_order_cents", sa.BigInteger(), server_default="0", nullable=False)
    op.add_column("commission_terms", minimum)


def downgrade() -> None:
    op.drop_column("commission_terms", "minimum_order_cents")
    with op.batch_alter_table("leads", schema=None) as batch_op:
        batch_op.drop_index("ix_leads_outranked_by")
        batch_op.drop_column("outranked_at")
        batch_op.drop_column("outranked_by")
    op.drop_column("customers", "confirmed")
