"""PATCH /api/programs/:id/commissions[/:commissionId]: owners decide on one commission, or on several at once."""

from collections.abc import Sequence

from presentation.api_request import ApiRequest
from presentation.changes import CommissionChanges, OwnerCommissionChange
from presentation.operations import operation
from presentation.resources import CommissionView
from presentation.view import View
from storage.lists.commissions import Commission
from storage.management import commission_decisions
from storage.rules.errors import CommissionFlagged, CommissionOnHold, ServiceError
from web.errors import FieldProblem, error_body
from web.response import ModelResponse


class ProblemView(View):
    """Why one commission did not change."""

    code: str
    message: str
    hint: str = ""
    fields: Sequence[FieldProblem] = ()


class UndecidedView(View):
    """A commission that did not change."""

    id: int
    error: ProblemView


class DecidedView(View):
    """One result for each commission, by id."""

    data: list[CommissionView | UndecidedView]


@operation("Approve, reject or pay a commission", CommissionOnHold, CommissionFlagged, body=OwnerCommissionChange)
async def decide_commission(call: ApiRequest) -> ModelResponse[CommissionView]:
    """Approve, reject or pay a commission; with a reason also while it is on hold."""
    commission_id = call.path_id("commission_id")
    sent = await call.parse(OwnerCommissionChange)
    reason = sent.override_hold_reason
    decide = commission_decisions.decide
    decided = await call.write(decide, commission_id, sent.status, override_hold_reason=reason)
    return ModelResponse(CommissionView.of(decided))


@operation("Approve, reject or pay several commissions", body=CommissionChanges)
async def decide_commissions(call: ApiRequest) -> ModelResponse[DecidedView]:
    """Set the status of up to 200 commissions; each has its own result, a commission or an error."""
    sent = await call.parse(CommissionChanges)
    results = await call.write(commission_decisions.decide_each, sent.ids, sent.status)
    return ModelResponse(DecidedView(data=[_result(call, *result) for result in results.items()]))


def _result(call: ApiRequest, commission_id: int, result: Commission | ServiceError) -> CommissionView | UndecidedView:
    if isinstance(result, ServiceError):
        error = error_body(result, call.request.scope["request_id"])["error"]
        return UndecidedView(id=commission_id, error=ProblemView(**error))
    return CommissionView.of(result)
