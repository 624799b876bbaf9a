"""Find a payment event by any of its ids, and set payments that name no customer apart"""

import json
from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0027"
down_revision = "0021"
branch_labels = None
depends_on = None

DONE = ("recorded", "repeated", "ignored", "test", "same_sale")
FOREIGN_KEY = "fk_payment_customers_program_id_click_id"
PAGE = 500


def upgrade() -> None:
    op.create_table(
        "payment_event_names",
        sa.Column("program_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("name", sa.String(length=300), nullable=False),
        sa.Column("event_id", sa.String(length=255), nullable=False),
        sa.PrimaryKeyConstraint("program_id", "name", "event_id", name=op.f("pk_payment_event_names")),
    )
    op.create_index("ix_payment_events_outcome", "payment_events", ["program_id", "outcome", "id"])
    with op.batch_alter_table("payment_customers", schema=None) as batch_op:
        batch_op.drop_constraint(FOREIGN_KEY, type_="foreignkey")
    _name_what_waits()


def _name_what_waits() -> None:
    """Give the payments that do not count their names; the others are found by their sale."""
    connection, schema = op.get_bind(), sa.MetaData()
    events = sa.Table("payment_events", schema, autoload_with=connection)
    names = sa.Table("payment_event_names", schema, autoload_with=connection)
    columns = (events.c.program_id, events.c.event_id)
    waiting = sa.select(*columns, events.c.payment).where(events.c.outcome.not_in(DONE), events.c.payment.is_not(None))
    last: tuple[Any, ...] = ()
    while rows := connection.execute(
        (waiting.where(sa.tuple_(*columns) > sa.tuple_(*last)) if last else waiting).order_by(*columns).limit(PAGE)
    ).all():
        last = rows[-1][:2]
        for program_id, event_id, payment in rows:
            fields = json.loads(payment)
            fields = fields if "version" in fields else next(iter(fields.values()))
            customer = [f"{name}:{fields[name]}" for name in ("click_id", "customer_key") if fields.get(name)]
            ids = [*(fields.get("references") or [fields.get("reference")]), fields.get("processor_customer")]
            row = {"program_id": program_id, "event_id": event_id}
            named = [row | {"name": name} for name in dict.fromkeys([*ids, *customer]) if name]
            connection.execute(names.insert(), named)
            if "transaction_id" in fields and not customer:
                mine = (events.c.program_id == program_id, events.c.event_id == event_id)
                waiting_still = events.update().where(*mine, events.c.outcome == "waiting")
                connection.execute(waiting_still.values(outcome="organic"))


def downgrade() -> None:
    op.execute(
        "DELETE FROM payment_customers WHERE NOT EXISTS (SELECT 1 FROM customers WHERE"
        " customers.program_id = payment_customers.program_id AND customers.click_id = payment_customers.click_id)"
    )
    with op.batch_alter_table("payment_customers", schema=None) as batch_op:
        columns = ["program_id", "click_id"]
        batch_op.create_foreign_key(FOREIGN_KEY, "customers", columns, columns)
    op.execute(
        "UPDATE payment_events SET outcome = 'waiting' WHERE outcome IN ('organic', 'not_referred', 'unknown_customer')"
    )
    op.execute("UPDATE payment_events SET outcome = 'ignored' WHERE outcome = 'linked'")
    op.drop_index("ix_payment_events_outcome", "payment_events")
    op.drop_table("payment_event_names")
