"""Alembic's entry point: runs the migrations over the connection that `storage.migrations.upgrade` opened."""

from typing import Any, Literal

from alembic import context

from storage.tables import metadata
from storage.tables.columns import Timestamp


def _render(kind: str, item: Any, _: Any) -> str | Literal[False]:
    """Write our own column type into migrations as what the database stores."""
    return "sa.BigInteger()" if kind == "type" and isinstance(item, Timestamp) else False


context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    render_as_batch=True,
    render_item=_render,
)
with context.begin_transaction():
    context.run_migrations()
