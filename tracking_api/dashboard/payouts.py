"""How partners are paid, as members change it: the partner gets an e-mail."""

from datetime import timedelta

from presentation.api_request import ApiRequest
from presentation.operations import operation
from presentation.payouts import PayoutMethodChange
from storage.lists.declaration import ListScope
from storage.lists.find import get
from storage.lists.partners import PARTNERS
from storage.lists.programs import read_program
from storage.management import payout_methods
from storage.rules import errors
from tracking_api.dashboard import mail

STORED_WITHIN = timedelta(milliseconds=1)


@operation(errors.PartnerNotFound)
async def change_payout_method(call: ApiRequest, sent: PayoutMethodChange) -> payout_methods.PayoutMethod:
    """Change how a partner is paid; payouts by a new method wait for 7 days, or until an owner releases it."""
    about = (call.path_id("partner_id"), sent.kind, sent.details())
    method = await call.write(payout_methods.change, *about, sealer=call.request.app.state.settings.sealer())
    if mail.is_on(call.request) and call.at - method.changed_at < STORED_WITHIN:
        partner = await call.storage.read(get, PARTNERS, ListScope(call.program_id, call.at), method.partner_id)
        if partner.email is not None:
            program = (await call.read(read_program)).settings.name
            await mail.send(call.request, partner.email, "payout-method", program=program, method=method)
    return method
