"""Commissions: first those that are ready to approve; found, added up and exported as CSV."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from starlette.requests import Request

from presentation import queries
from storage.lists.commissions import COMMISSIONS
from storage.management.commission_decisions import MOST_TOGETHER
from storage.rules.commission import CommissionStatus
from tracking_api.dashboard.pages.filters import FilterValues
from tracking_api.dashboard.pages.lists import ListPage, ListState
from tracking_api.dashboard.pages.page_context import PageContext

ALL = "all"


def _by_status(address: FilterValues, at: datetime) -> Mapping[str, Any]:
    """Return the filters of the tab: without a status, what is ready to approve."""
    shown = address["status"]
    if not shown:
        return {"ready_at": at}
    return {} if shown == ALL else {"status": queries.choice(address, "status", CommissionStatus)}


async def _values(_: Request, __: PageContext, ___: ListState) -> dict[str, Any]:
    return {"statuses": list(CommissionStatus), "most": MOST_TOGETHER}


COMMISSION_LIST = ListPage(
    COMMISSIONS, "commissions.html", tabs=("status", "ready_at"), narrow=_by_status, values=_values
)
