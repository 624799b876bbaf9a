"""PATCH /programs/:id/partners/:partnerId."""

from presentation.api_request import ApiRequest
from presentation.changes import PartnerChange
from presentation.operations import operation
from presentation.resources import PartnerView
from storage.management import partners
from web.response import ModelResponse


@operation("Change a partner", body=PartnerChange)
async def change_partner(call: ApiRequest) -> ModelResponse[PartnerView]:
    """Change a partner's name, e-mail address, code or status."""
    partner_id = call.path_id("partner_id")
    sent = (await call.parse(PartnerChange)).sent()
    return ModelResponse(PartnerView.of(await call.write(partners.change, partner_id, sent)))
