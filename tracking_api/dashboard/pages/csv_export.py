"""Commissions as CSV (RFC 4180), read page by page; a spreadsheet runs no cell as a formula."""

import csv
import io
from collections.abc import AsyncIterator, Iterable
from typing import Any

from storage import Storage
from storage.engine.pagination import MOST, Paging
from storage.management import commissions
from storage.management.commissions import Commission
from tracking_api.dashboard.pages import text

HEADER = [
    "id",
    "created_at",
    "partner",
    "partner_code",
    "customer_key",
    "transaction_id",
    "status",
    "earned",
    "net",
    "currency",
    "hold_until",
    "paid_at",
]
FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")


async def rows(storage: Storage, program_id: int, **filters: Any) -> AsyncIterator[str]:
    """Yield the file, a page of commissions at a time, newest first; the filters are those of the list."""
    yield _lines([HEADER])
    cursor: str | None = None
    while True:
        paging = Paging(MOST, cursor)
        page = await storage.read(commissions.list_commissions, program_id, paging, **filters)
        yield _lines(_row(commission) for commission in page.data)
        cursor = page.next_cursor
        if cursor is None:
            return


def guarded(cell: str | None) -> str:
    """Return a text that a spreadsheet does not run as a formula: an apostrophe precedes what would start one."""
    value = cell or ""
    return f"'{value}" if value.lstrip(" ").startswith(FORMULA) else value


def _row(commission: Commission) -> list[str]:
    earned, net = (text.major(cents, commission.currency) for cents in (commission.amount_cents, commission.net_cents))
    timestamps = (commission.hold_until.isoformat(), commission.paid_at.isoformat() if commission.paid_at else "")
    texts = (commission.partner_name, commission.partner_code, commission.customer_key, commission.transaction_id)
    return [
        str(commission.id),
        commission.created_at.isoformat(),
        *map(guarded, texts),
        commission.status,
        str(earned),
        str(net),
        commission.currency,
        *timestamps,
    ]


def _lines(cells: Iterable[Iterable[str]]) -> str:
    written = io.StringIO()
    csv.writer(written).writerows(cells)
    return written.getvalue()
