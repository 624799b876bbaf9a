"""POST /api/programs/:id/partners: an owner enrols a partner."""

from presentation.api_request import ApiRequest
from presentation.changes import NewPartner
from presentation.operations import operation
from presentation.resources import PartnerView
from storage.management import partners
from web.response import CreatedResponse


@operation("Enrol a partner", body=NewPartner)
async def enrol_partner(call: ApiRequest) -> CreatedResponse[PartnerView]:
    """Enrol a partner."""
    sent = (await call.parse(NewPartner)).sent()
    return CreatedResponse(PartnerView.of(await call.write(partners.enrol, **sent)))
