"""From the last development version before 0.3.0 to 0.3.0

A reset link and an invitation name the owner who created them; reset links from before do not, and end. A refund counts
once, whoever reports it. No id is given out twice: on SQLite, the id of the newest row was free again once the row was
deleted. AUTOINCREMENT changes no row and no index, so the text of the schema is all that changes, as SQLite documents it
(https://www.sqlite.org/lang_altertable.html#otheralter): programs have too many dependents to be copied.
"""

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0037"
down_revision = "0033"
branch_labels = None
depends_on = None

COLUMNS = {
    "invitations": ["created_by BIGINT"],
    "password_resets": ["created_by BIGINT"],
    "payment_returns": ["totals TEXT"],
    "refunds": ["reported_cents BIGINT", "in_account BOOLEAN"],
}
TABLES = ("workspaces", "users", "programs", "agent_keys", "invitations")
PLAIN, NEVER_AGAIN = "PRIMARY KEY (id)", "PRIMARY KEY (id AUTOINCREMENT)"


def upgrade() -> None:
    for table, columns in COLUMNS.items():
        for column in columns:
            op.execute(f"ALTER TABLE {table} ADD COLUMN {column}")
    op.execute("DELETE FROM password_resets")
    is_sqlite = op.get_bind().dialect.name == "sqlite"
    if is_sqlite:
        create_sequences()
        rewrite(PLAIN, NEVER_AGAIN)
    for table in TABLES:
        largest = max(one(f"SELECT max(id) FROM {table}") or 0, granted() if table == "programs" else 0)  # noqa: S608
        if is_sqlite:
            op.execute(f"INSERT INTO sqlite_sequence (name, seq) VALUES ('{table}', {largest})")  # noqa: S608
        elif largest > (one(f"SELECT pg_sequence_last_value('{table}_id_seq'::regclass)") or 0):  # it is a copy
            op.execute(f"SELECT setval('{table}_id_seq', {largest})")


def downgrade() -> None:
    if op.get_bind().dialect.name == "sqlite":
        rewrite(NEVER_AGAIN, PLAIN)
        op.execute("DELETE FROM sqlite_sequence")
    for table, added in COLUMNS.items():
        for column in reversed(added):
            op.drop_column(table, column.partition(" ")[0])


def create_sequences() -> None:
    """Let SQLite create the table sqlite_sequence, which it does for the first table with AUTOINCREMENT."""
    op.execute("CREATE TABLE first_sequence (id INTEGER PRIMARY KEY AUTOINCREMENT)")
    op.execute("DROP TABLE first_sequence")


def rewrite(before: str, after: str) -> None:
    op.execute("PRAGMA writable_schema = ON")
    for table in TABLES:
        where = f"WHERE type = 'table' AND name = '{table}'"
        op.execute(f"UPDATE sqlite_master SET sql = replace(sql, '{before}', '{after}') {where}")  # noqa: S608
    op.execute("PRAGMA writable_schema = RESET")


def granted() -> int:
    """Return the largest id of a program that the audit log, an assistant or an agent key names, deleted or not."""
    lists = "SELECT program_ids FROM assistants UNION SELECT program_ids FROM agent_keys WHERE program_ids IS NOT NULL"
    named = [int(each) for ids in op.get_bind().execute(sa.text(lists)).scalars() for each in ids.split()]
    return max([one("SELECT max(program_id) FROM audit_entries") or 0, *named])


def one(statement: str) -> Any:
    return op.get_bind().execute(sa.text(statement)).scalar()
