"""Save what clicks can be grouped by"""

import sqlalchemy as sa
from alembic import op

revision = "0020"
down_revision = "0018"
branch_labels = None
depends_on = None


def upgrade() -> None:
    with op.batch_alter_table("clicks", schema=None) as batch_op:
        batch_op.add_column(sa.Column("dimensions", sa.Text()))
    unfilled = sa.text("dimensions IS NULL")
    columns = ["program_id", "click_id"]
    op.create_index("ix_clicks_unfilled", "clicks", columns, sqlite_where=unfilled, postgresql_where=unfilled)


def downgrade() -> None:
    op.drop_index("ix_clicks_unfilled", table_name="clicks")
    with op.batch_alter_table("clicks", schema=None) as batch_op:
        batch_op.drop_column("dimensions")
