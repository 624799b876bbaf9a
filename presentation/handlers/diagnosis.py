"""GET /programs/:id/explain and .../readiness: why a sale was credited or not, and what an integration lacks."""

from presentation import queries
from presentation.api_request import ApiRequest
from presentation.diagnosis import ExplanationView, ReadinessView, SubjectView
from presentation.operations import operation
from storage.diagnosis.explanation import explain
from storage.diagnosis.readiness import check_readiness
from storage.rules.errors import ValidationError
from web.response import ModelResponse

IDENTIFIERS = {
    "transaction_id": "The sale's, or any id of the payment processor. Send exactly one of the three identifiers.",
    "customer_key": "The customer's; their newest sale is explained.",
    "click_id": "The click's.",
}


@operation("Why a sale was credited or not, also when there is no such sale", ValidationError, query=IDENTIFIERS)
async def explain_sale(call: ApiRequest) -> ModelResponse[ExplanationView]:
    """Explain the sale, customer or click that one of the identifiers names."""
    subject = {name: queries.text(call.request, name) for name in SubjectView.model_fields}
    return ModelResponse(ExplanationView.of(await call.report(explain, **subject, at=call.at)))


@operation("What the program still lacks for its first credited sale")
async def get_readiness(call: ApiRequest) -> ModelResponse[ReadinessView]:
    """Return the gates, the blocker and the identifiers' health."""
    return ModelResponse(ReadinessView.of(await call.report(check_readiness, at=call.at, base_url=call.base_url)))
