"""Alembic's entry point: runs the migrations over the connection that `storage.migrations.upgrade` opened."""

from alembic import context

from storage.tables import metadata
from storage.tables.columns import Timestamp

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    render_as_batch=True,
    # our own column type is written as what the database stores
    render_item=lambda kind, item, _: "sa.BigInteger()" if kind == "type" and isinstance(item, Timestamp) else False,
)
with context.begin_transaction():
    context.run_migrations()
