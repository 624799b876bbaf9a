"""The check that every rollup, ledger and unique key agrees with the events: `svc admin db check`."""

from sqlalchemy import Connection

from storage.checks import customers, ledger, rollups, uniqueness
from storage.checks.difference import BookDifference


def run(connection: Connection) -> list[BookDifference]:
    """Recompute everything that is stored twice, over one snapshot, and return each difference."""
    parts = (uniqueness, customers, ledger, rollups)
    return [difference for part in parts for difference in part.differences(connection)]
