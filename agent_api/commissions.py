"""PATCH /api/agent/v1/programs/:id/commissions/:commissionId: its status decides which scope the key needs."""

from agent_api.call import AgentRequest, ScopeByBody
from presentation.changes import CommissionChange
from presentation.operations import operation
from presentation.resources import CommissionView
from storage.management import commission_decisions
from storage.rules.commission import CommissionStatus
from storage.rules.errors import CommissionFlagged, CommissionOnHold, SecondKeyRequired, ServiceError
from storage.rules.scope import Scope
from web import body
from web.response import ModelResponse


def scope_of(content: bytes) -> Scope:
    """Return the scope that a decision needs."""
    try:
        status = body.parse(CommissionChange, content).status
    except ServiceError:  # the handler says what is wrong with it
        return Scope.COMMISSIONS_WRITE
    return Scope.COMMISSIONS_PAY if status == CommissionStatus.PAID else Scope.COMMISSIONS_WRITE


DECISION = ScopeByBody(
    scope_of,
    (Scope.COMMISSIONS_WRITE, Scope.COMMISSIONS_PAY),
    "Scope: commissions:write for approved and rejected, commissions:pay for paid.",
)

REJECTIONS = (CommissionOnHold, CommissionFlagged, SecondKeyRequired)


@operation("Approve, reject or pay a commission", *REJECTIONS, body=CommissionChange)
async def decide_commission(call: AgentRequest) -> ModelResponse[CommissionView]:
    """Approve, reject or pay a commission."""
    commission_id = call.path_id("commission_id")
    sent = await call.parse(CommissionChange)
    return ModelResponse(CommissionView.of(await call.write(commission_decisions.decide, commission_id, sent.status)))
