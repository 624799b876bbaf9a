"""Recomputes payouts: what each line froze, what the ledger has of it, and that no commission is paid twice."""

from collections.abc import Iterator
from pathlib import Path

from sqlalchemy import Connection, text

from storage.checks.ledger import BookDifference

_SQL = Path(__file__).with_suffix(".sql").read_text(encoding="utf-8")


def differences(connection: Connection) -> Iterator[BookDifference]:
    """Yield every line, run and commission that does not agree with its items or its ledger entries."""
    for statement in filter(str.strip, _SQL.split(";")):
        for row in connection.execute(text(statement)):
            where = f"program {row.program_id}, payout {row.payout_id}, partner {row.partner_id}"
            yield BookDifference(row.what, where, int(row.stored), int(row.recomputed))
