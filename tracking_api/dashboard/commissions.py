"""PATCH /api/programs/:id/commissions: owners decide on several commissions at once."""

from collections.abc import Sequence

from presentation.actions import action
from presentation.api_request import ApiRequest
from presentation.changes import CommissionChanges
from presentation.resources import CommissionView
from presentation.view import View
from storage.lists.commissions import Commission
from storage.management import commission_decisions
from storage.rules.errors import ServiceError
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


@action("Approve, reject or pay several commissions")
async def decide_commissions(call: ApiRequest, sent: CommissionChanges) -> ModelResponse[DecidedView]:
    """Set the status of up to 200 commissions; each has its own result, a commission or an error."""
    results = await call.write(commission_decisions.decide_each, sent.ids, sent.status)
    return ModelResponse(DecidedView(data=[_result(call, *result) for result in results.items()]))


def _result(call: ApiRequest, commission_id: int, result: Commission | ServiceError) -> CommissionView | UndecidedView:
    if isinstance(result, ServiceError):
        error = error_body(result, call.request.scope["request_id"])["error"]
        return UndecidedView(id=commission_id, error=ProblemView(**error))
    return CommissionView.of(result)
