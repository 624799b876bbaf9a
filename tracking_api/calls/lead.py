"""POST /api/v1/track/lead: a visitor signed up. The program key settles it; a browser may leave it provisional."""

from typing import Annotated, Any

from pydantic import JsonValue, WithJsonSchema

from storage.rules import contact, keys
from storage.rules.errors import (
    AttributionWindowExpired,
    CustomerNotFound,
    CustomerWrongProgram,
    IdempotencyKeyReused,
    IdentifierConflict,
    IdentifierRequired,
    ProgramNotFound,
    StatusTransitionRefused,
)
from storage.rules.settlement import Settlement
from storage.tracking import leads
from storage.tracking.leads import LeadResult
from storage.tracking.principals import Public
from storage.tracking.reported_leads import Lead
from storage.tracking.test_mode import TestModeCall
from tracking_api.calls.call import Endpoint, TrackingRequest
from tracking_api.calls.described import IDEMPOTENT, TEST_MODE, public_call
from tracking_api.calls.fields import NO_ADDITIONAL_DATA, AdditionalData
from tracking_api.calls.responses import LeadRecordedView, TestRecordedView
from web.body import Body, Identifier
from web.response import JsonResponse

Email = Annotated[JsonValue, WithJsonSchema({"type": "string", "maxLength": contact.LONGEST})]
EMAIL_IGNORED = {
    "code": "email_ignored",
    "message": "The e-mail was left out, because it is not an e-mail address. The lead is recorded.",
    "hint": "Send the e-mail as the customer typed it, such as jane@example.com, or leave the field out.",
}


class LeadBody(Body):
    """A lead, as a server or the browser helper sends it."""

    click_id: Identifier | None = None
    customer_key: Identifier | None = None
    email: Email = None
    additional_data: AdditionalData | None = None


async def lead(call: TrackingRequest) -> JsonResponse:
    """Record a lead; with an Authorization header it is a server-mode lead, or a 401."""
    key = call.principal
    if key is None:
        await call.limit("public")
    body = await call.parse(LeadBody)
    extra = body.additional_data or NO_ADDITIONAL_DATA
    click_program_id = keys.click_program(body.click_id or "")
    if key is None:
        await call.limit("lead", extra.program_id or click_program_id)
    known = contact.protect(str(body.email)) if contact.is_email(body.email) else None
    if extra.test_mode:
        event = TestModeCall(
            kind="lead",
            at=call.at,
            program_id=extra.program_id,
            click_program_id=click_program_id,
            event_name=extra.event_name,
            customer_key=body.customer_key,
            click_id=body.click_id,
            email_mask=known.mask if known else None,
        )
        return _with_warning(await call.test(event, key), body)
    if body.click_id is None and body.customer_key is None:
        raise IdentifierRequired
    recorded = Lead(
        click_id=body.click_id,
        customer_key=body.customer_key,
        at=call.at,
        is_trusted=key is not None,
        program_id=extra.program_id,
        contact=known,
        event_name=extra.event_name,
        address_hash=None if key else call.address_hash(),
    )
    principal = key or await _public(call, extra.program_id, click_program_id)
    return _with_warning(await call.respond(leads.record, recorded, principal, _content), body)


def _content(result: LeadResult) -> dict[str, Any]:
    content: dict[str, Any]
    if result.settlement == Settlement.PROVISIONAL:
        content = {"success": True, "provisional": True, "message": "Lead recorded; your server must confirm it."}
    elif result.recorded:
        content = {"success": True, "message": "Lead recorded."}
    else:
        content = {"success": True, "already_recorded": True, "message": "This lead was recorded before."}
    return content


def _with_warning(response: JsonResponse, body: LeadBody) -> JsonResponse:
    if body.email is not None and body.email != "" and not contact.is_email(body.email):
        response.body = {**response.body, "warnings": [EMAIL_IGNORED]}
    return response


async def _public(call: TrackingRequest, named: int | None, clicked: int | None) -> Public:
    """Return a browser's principal: the program that it names, else its click's. Raises its `if_unknown`."""
    principal = Public(clicked, CustomerNotFound) if named is None else Public(named)
    await call.require_program(*principal)
    return principal


endpoint = Endpoint(lead)
DESCRIPTION = public_call(
    "trackLead",
    "Record a lead, which settles with the program key or as the program's policy allows",
    *(IdentifierRequired, CustomerNotFound, CustomerWrongProgram, StatusTransitionRefused, IdentifierConflict),
    *(AttributionWindowExpired, IdempotencyKeyReused, ProgramNotFound),
    responses=(LeadRecordedView, TestRecordedView),
    body=LeadBody,
    headers=IDEMPOTENT,
    description=f"An Authorization header without a valid program key gets 401, never browser mode. {TEST_MODE}",
)
