"""Commissions as CSV (RFC 4180), read page by page; a spreadsheet runs no cell as a formula."""

import re
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
# What starts a formula, after any space (also a no-break, ideographic or zero-width one): at the start of a cell, and
# after a semicolon, at which a spreadsheet of many countries splits the line.
_SPACE = r"[\s\u00ad\u061c\u115f\u1160\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\u2800\u3164\ufeff\uffa0]*"
_FORMULA = re.compile(rf"(^|;)({_SPACE})(?=[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20])")
_QUOTED = re.compile(r"[\",;\s]")


async def rows(storage: Storage, program_id: int, **filters: Any) -> AsyncIterator[str]:
    """Yield the file, a page of commissions at a time, newest first; the filters are those of the list."""
    yield lines([HEADER])
    cursor: str | None = None
    while True:
        paging = Paging(MOST, cursor)
        page = await storage.read(commissions.list_commissions, program_id, paging, **filters)
        yield lines(_row(commission) for commission in page.data)
        cursor = page.next_cursor
        if cursor is None:
            return


def guarded(cell: str | None) -> str:
    """Return a text that a spreadsheet does not run as a formula: an apostrophe precedes what would start one."""
    return _FORMULA.sub(r"\1'\2", cell or "")


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


def lines(cells: Iterable[Iterable[str]]) -> str:
    """Return rows as lines of the file."""
    return "".join(",".join(map(_quoted, row)) + "\r\n" for row in cells)


def _quoted(cell: str) -> str:
    """Return a cell as RFC 4180 has it; one with a semicolon is quoted, too."""
    return '"{}"'.format(cell.replace('"', '""')) if _QUOTED.search(cell) else cell
