"""list_flags: signs of fraud, and what they hold."""

from datetime import datetime
from typing import Self

from mcp_server.arguments import Cursor, Limit, RowId
from mcp_server.results import Result, RowPage, compact, page
from mcp_server.sanitize import Untrusted
from mcp_server.tools.tool import ToolRequest, tool
from storage.engine.pagination import Paging
from storage.management import flags
from storage.rules.fraud.flag import FlagState
from storage.rules.scope import Scope


class FlagRow(Result):
    """A sign of fraud on a customer's commissions, or (without customer_id) on the partner's since held_from."""

    id: int
    kind: str
    reason: str
    evidence: Untrusted
    state: str
    partner_id: int
    partner_name: Untrusted
    customer_id: int | None = None
    customer_key: Untrusted | None = None
    commission_id: int | None = None
    held_from: datetime
    created_at: datetime
    decided_at: datetime | None = None
    decided_by: Untrusted | None = None
    decision_reason: Untrusted | None = None

    @classmethod
    def of(cls, flag: flags.Flag) -> Self:
        """Return the row of a flag."""
        return cls(**flag._asdict() | {"evidence": compact(flag.evidence)})


@tool("Signs of fraud", Scope.COMMISSIONS_READ)
def list_flags(
    request: ToolRequest,
    *,
    program_id: int,
    limit: Limit = 25,
    cursor: Cursor | None = None,
    state: FlagState | None = None,
    partner_id: RowId | None = None,
) -> RowPage[FlagRow]:
    """Signs of fraud, newest first, with reason and evidence. An open flag holds commissions until a person
    dismisses it (releases them) or confirms it (rejects them).
    """
    paging = Paging(limit, cursor)
    stored = flags.list_flags(request.connection, program_id, paging, state=state, partner_id=partner_id)
    return page(stored, FlagRow.of)
