"""list_flags: signs of fraud, and what they hold."""

from mcp_server.results import Result, RowPage, compact, fields_of
from mcp_server.sanitize import Untrusted
from mcp_server.tools.lists import Asked, list_tool
from storage.lists.flags import FLAGS, Flag
from storage.rules.scope import Scope


@fields_of(Flag, leave_out={"partner_code", "program_id"})
class FlagRow(Result):
    """A sign of fraud on a customer's commissions, or (without customer_id) on the partner's since held_from."""

    evidence: Untrusted


@list_tool("Signs of fraud", Scope.COMMISSIONS_READ, FLAGS)
def list_flags(asked: Asked) -> RowPage[FlagRow]:
    """Signs of fraud, newest first, with reason and evidence. An open flag holds commissions until a person
    dismisses it (releases them) or confirms it (rejects them).
    """
    return RowPage[FlagRow](**asked.page(_row))


def _row(flag: Flag) -> FlagRow:
    return FlagRow(**flag._asdict() | {"evidence": compact(flag.evidence)})
