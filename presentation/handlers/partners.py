"""GET /programs/:id/partners, PATCH .../partners/:partnerId."""

from presentation import queries
from presentation.api_request import ApiRequest
from presentation.changes import PartnerChange
from presentation.operations import operation
from presentation.resources import PartnerView
from presentation.view import PageView
from storage.management import balances, partners
from storage.rules.attribution import PartnerStatus
from web.response import ModelResponse


@operation("The partners", query={"status": "active, paused or inactive."})
async def list_partners(call: ApiRequest) -> ModelResponse[PageView[PartnerView]]:
    """List the program's partners with their balances; `?status=` narrows it."""
    status = queries.choice(call.request, "status", PartnerStatus)
    stored = await call.read(partners.list_partners, queries.paging(call.request), status=status)
    owed = await call.read(balances.of_partners, [each.id for each in stored.data], at=call.at)
    shown = [PartnerView.of(each, owed[each.id]) for each in stored.data]
    return ModelResponse(PageView(data=shown, next_cursor=stored.next_cursor))


@operation("Change a partner", body=PartnerChange)
async def change_partner(call: ApiRequest) -> ModelResponse[PartnerView]:
    """Change a partner's name, e-mail address, code or status."""
    partner_id = call.path_id("partner_id")
    sent = (await call.parse(PartnerChange)).sent()
    partner = await call.write(partners.change, partner_id, sent)
    owed = await call.read(balances.of_partners, [partner_id], at=call.at)
    return ModelResponse(PartnerView.of(partner, owed[partner_id]))
