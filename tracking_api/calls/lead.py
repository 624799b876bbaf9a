"""POST /api/v1/track/lead: a visitor signed up. The program key settles it; a browser may leave it provisional."""

from functools import partial
from typing import Annotated, Any, Literal

from pydantic import JsonValue, WithJsonSchema

from storage.rules import contact, errors, keys
from storage.rules.settlement import Settlement
from storage.tracking import leads
from storage.tracking.received_calls import Public
from tracking_api.calls.call import Answer, Endpoint, Recording, TrackingCaller, recording_of_test
from tracking_api.calls.fields import WARNINGS, FlaggableView, TestRecordedView, TrackingBody, described
from web.body import Identifier

Email = Annotated[
    JsonValue, WithJsonSchema({"anyOf": [{"type": "string", "maxLength": contact.LONGEST}, {"type": "null"}]})
]


class LeadBody(TrackingBody):
    """A lead, as a server or the browser helper sends it.

    With the program key, `coupon_code` credits the coupon's partner where no click does, as the program's `coupon_wins`
    says.
    """

    click_id: Identifier | None = None
    customer_key: Identifier | None = None
    email: Email = None
    coupon_code: Identifier | None = None


class LeadRecordedView(FlaggableView):
    """A lead: settled, provisional (`provisional` true), or already recorded (`already_recorded` true)."""

    message: str
    provisional: Literal[True] = True
    already_recorded: Literal[True] = True


def lead(body: LeadBody, caller: TrackingCaller) -> Recording:
    """Record a lead; with an Authorization header it is a server-mode lead, or a 401."""
    key, of_click = caller.key, keys.click_program(body.click_id or "")
    known = contact.protect(str(body.email)) if contact.is_email(body.email) else None
    is_ignored = known is None and body.email is not None and body.email != ""
    warned: dict[str, Any] = {"warnings": [WARNINGS["email_ignored"]]} if is_ignored else {}
    if body.extra.test_mode:
        mask = known and known.email_mask
        event = body.test_event("lead", caller.at, click_program_id=of_click, email_mask=mask)
        return recording_of_test(event, key, **warned)
    if body.click_id is None and body.customer_key is None:
        raise errors.IdentifierRequired
    item = leads.Lead(
        click_id=body.click_id,
        customer_key=body.customer_key,
        at=caller.at,
        is_trusted=key is not None,
        program_id=body.extra.program_id,
        contact=known,
        event_name=body.extra.event_name,
        coupon_code=body.coupon_code if key else None,
        address_hash=None if key else caller.services.address_hashes.of(caller.address, caller.at),
    )
    public = Public(of_click, errors.CustomerNotFound) if item.program_id is None else Public(item.program_id)
    return Recording(leads.record, item, partial(_answer, warned), key or public, None if key else public)


def _answer(warned: Answer, result: leads.LeadResult) -> Answer:
    answer = {"success": True, "message": "Lead recorded.", **warned}
    if result.coupon_unknown:
        answer["warnings"] = [*warned.get("warnings", ()), WARNINGS["coupon_unknown"]]
    if result.settlement == Settlement.PROVISIONAL:
        answer |= {"provisional": True, "message": "Lead recorded; your server must confirm it."}
    elif not result.recorded:
        answer |= {"already_recorded": True, "message": "This lead was recorded before."}
    return answer


def _program_of(body: LeadBody) -> int | None:
    return body.extra.program_id or keys.click_program(body.click_id or "")


endpoint = Endpoint(lead, LeadBody, key="optional", program_of=_program_of)
DESCRIPTION = described("lead", LeadRecordedView, TestRecordedView, body=LeadBody)
