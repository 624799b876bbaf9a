"""Apply plans at a time, and cap the replays of agents"""

from alembic import op

revision = "0059"
down_revision = "0058"
branch_labels = None
depends_on = None

COLUMNS = (
    ("agent_caps", "replayed_calls_in_a_day", "INTEGER"),
    ("plans", "apply_at", "BIGINT"),
    ("plans", "approver_type", "VARCHAR(16)"),
    ("plans", "approver_id", "VARCHAR(80)"),
)


def upgrade() -> None:
    for table, name, kind in COLUMNS:
        op.execute(f"ALTER TABLE {table} ADD COLUMN {name} {kind}")
    op.execute("CREATE INDEX ix_plans_due ON plans (apply_at) WHERE status = 'scheduled'")


def downgrade() -> None:
    op.execute("DROP INDEX ix_plans_due")
    for table, name, _ in reversed(COLUMNS):
        op.drop_column(table, name)
