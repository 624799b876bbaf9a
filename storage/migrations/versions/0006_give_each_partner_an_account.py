"""Give each partner an account in the ledger"""

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

PARTNER_KINDS = ("commission", "reversal", "reinstatement", "rejection")
FIRST_ID_MILLIS = 1_577_836_800_000  # ids are microseconds since 2020
ROWS_AT_ONCE = 1_000

commissions = sa.table("commissions", *map(sa.column, ("program_id", "id", "partner_id", "status", "paid_at")))
entries = sa.table(
    "ledger_entries",
    *map(sa.column, ("program_id", "id", "partner_id", "commission_id", "kind", "amount_cents", "corrects_id", "at")),
)


def upgrade() -> None:
    _change_program_ids(sa.Integer(), sa.BigInteger())
    with op.batch_alter_table("test_events", schema=None) as batch_op:
        batch_op.drop_column("payload")

    with op.batch_alter_table("ledger_entries", schema=None) as batch_op:
        batch_op.add_column(sa.Column("partner_id", sa.BigInteger(), nullable=True))
        batch_op.add_column(sa.Column("payout_id", sa.BigInteger(), nullable=True))
    _name_partners()
    _give_every_entry_its_own_id()
    with op.batch_alter_table("ledger_entries", schema=None) as batch_op:
        batch_op.drop_constraint(batch_op.f("pk_ledger_entries"), type_="primary")
        batch_op.create_primary_key(batch_op.f("pk_ledger_entries"), ["program_id", "id"])
        batch_op.alter_column("commission_id", existing_type=sa.BigInteger(), nullable=True)
        batch_op.alter_column("partner_id", existing_type=sa.BigInteger(), nullable=False)
        batch_op.create_index("ix_ledger_entries_commission", ["program_id", "commission_id"], unique=False)
        batch_op.create_index("ix_ledger_entries_partner", ["program_id", "partner_id"], unique=False)
    _pay_out_what_was_paid()


def downgrade() -> None:
    op.execute("DELETE FROM ledger_entries WHERE kind IN ('payout', 'adjustment')")
    with op.batch_alter_table("ledger_entries", schema=None) as batch_op:
        batch_op.drop_index("ix_ledger_entries_partner")
        batch_op.drop_index("ix_ledger_entries_commission")
        batch_op.drop_constraint(batch_op.f("pk_ledger_entries"), type_="primary")
        batch_op.create_primary_key(batch_op.f("pk_ledger_entries"), ["program_id", "commission_id", "id"])
        batch_op.alter_column("commission_id", existing_type=sa.BigInteger(), nullable=False)
        batch_op.drop_column("payout_id")
        batch_op.drop_column("partner_id")

    with op.batch_alter_table("test_events", schema=None) as batch_op:
        batch_op.add_column(sa.Column("payload", sa.Text(), nullable=True))
    _change_program_ids(sa.BigInteger(), sa.Integer())


def _change_program_ids(before: Any, after: Any) -> None:
    """Change the type of two columns.

    SQLite cannot rebuild commission_terms while commissions refer to it, and need not: it stores both types alike
    (in a key of two columns), so there only the schema's text changes.
    """
    with op.batch_alter_table("payment_accounts", schema=None) as batch_op:
        batch_op.alter_column("program_id", existing_type=before, type_=after, existing_nullable=False)
    if op.get_bind().dialect.name == "sqlite":
        op.execute("PRAGMA writable_schema = ON")
        op.execute(
            f"UPDATE sqlite_master SET sql = replace(sql, 'program_id {before}', 'program_id {after}')"  # noqa: S608 - two type names
            " WHERE type = 'table' AND name = 'commission_terms'"
        )
        op.execute("PRAGMA writable_schema = RESET")
    else:
        op.alter_column("commission_terms", "program_id", existing_type=before, type_=after)


def _name_partners() -> None:
    op.execute(
        "UPDATE ledger_entries SET partner_id = (SELECT partner_id FROM commissions"
        " WHERE commissions.program_id = ledger_entries.program_id AND commissions.id = ledger_entries.commission_id)"
    )


def _give_every_entry_its_own_id() -> None:
    """Renumber an id that two commissions of a program share: two processes drew it in one microsecond."""
    connection, entry = op.get_bind(), entries.c
    key = (entry.program_id, entry.id)
    shared = sa.select(*key, sa.func.min(entry.commission_id)).group_by(*key).having(sa.func.count() > 1)
    for program_id, entry_id, first in connection.execute(shared).all():
        again = (entry.program_id == program_id, entry.id == entry_id, entry.commission_id != first)
        for (commission_id,) in connection.execute(sa.select(entry.commission_id).where(*again)).all():
            last = sa.select(sa.func.max(entry.id)).where(entry.program_id == program_id)
            new_id = connection.execute(last).scalar_one() + 1
            mine = (entry.program_id == program_id, entry.commission_id == commission_id)
            for column in (entry.id, entry.corrects_id):
                connection.execute(sa.update(entries).where(*mine, column == entry_id).values({column: new_id}))


def _pay_out_what_was_paid() -> None:
    """Append a payout for each paid commission: what its entries were worth when it was paid."""
    connection, paid = op.get_bind(), commissions.c
    programs = sa.select(paid.program_id).where(paid.status == "paid").distinct()
    for (program_id,) in connection.execute(programs).all():
        payouts = _payouts(connection, program_id)
        for start in range(0, len(payouts), ROWS_AT_ONCE):
            connection.execute(sa.insert(entries), payouts[start : start + ROWS_AT_ONCE])


def _payouts(connection: sa.Connection, program_id: int) -> list[dict[str, Any]]:
    """Return a program's payouts, each with a free id that orders it among the entries of its commission."""
    paid, entry = commissions.c, entries.c
    settled: dict[Any, list[tuple[int, int]]] = {}
    of_commission = sa.and_(entry.program_id == paid.program_id, entry.commission_id == paid.id)
    movements = (
        sa.select(paid.id, paid.partner_id, paid.paid_at, entry.id.label("entry_id"), entry.amount_cents)
        .select_from(sa.join(commissions, entries, of_commission))
        .where(paid.program_id == program_id, paid.status == "paid", entry.kind.in_(PARTNER_KINDS))
    )
    for row in connection.execute(movements.order_by(paid.id, entry.id)):
        key = (row.id, row.partner_id, row.paid_at)
        settled.setdefault(key, []).append((row.entry_id, row.amount_cents))
    taken = set(connection.execute(sa.select(entry.id).where(entry.program_id == program_id)).scalars())
    payouts = []
    for (commission_id, partner_id, paid_at), worth in settled.items():
        payout_id = max((paid_at - FIRST_ID_MILLIS) * 1_000 + 999, worth[0][0]) + 1
        while payout_id in taken:
            payout_id += 1
        taken.add(payout_id)
        cents = sum(cents for entry_id, cents in worth if entry_id < payout_id)
        payouts.append(
            {
                "program_id": program_id,
                "id": payout_id,
                "partner_id": partner_id,
                "commission_id": commission_id,
                "kind": "payout",
                "amount_cents": -cents,
                "at": paid_at,
            }
        )
    return payouts
