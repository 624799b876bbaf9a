"""POST /api/v1/track/click: a visitor followed a partner's link. Public."""

from typing import Literal

from pydantic_core import to_json

from storage.rules import attribution, click_details, keys
from storage.rules.attribution import LinkCode
from storage.rules.errors import (
    AffiliateUrlRequired,
    AffMissing,
    CustomerWrongProgram,
    InvalidAffiliateUrl,
    PartnerNotFound,
    ProgramIdRequired,
    ProgramNotFound,
)
from storage.rules.reports import dimensions
from storage.tracking import clicks
from storage.tracking.clicks import Click, PartnerInactive
from storage.tracking.test_mode import TestModeCall
from tracking_api.calls.bots import reason_to_filter
from tracking_api.calls.call import Endpoint, TrackingRequest
from tracking_api.calls.described import TEST_MODE, public_call
from tracking_api.calls.fields import NO_ADDITIONAL_DATA, AdditionalData, ProgramId
from tracking_api.calls.responses import ClickAcceptedView, PartnerInactiveView, TestRecordedView
from tracking_api.calls.user_agents import agent_of
from web.body import Body, Text, Url
from web.response import JsonResponse


class ClickBody(Body):
    """A click, as the tracker sends it."""

    program_id: ProgramId | None = None
    affiliate_url: Url | Literal[""] | None = None  # required: an empty one is invalid, not absent
    existing_click_id: Text | None = None
    page_url: Url | None = None
    page_title: Text | None = None
    referrer_url: Url | None = None
    session_id: Text | None = None
    user_agent: Text | None = None
    language: Text | None = None
    timezone: Text | None = None
    screen_resolution: Text | None = None
    viewport_size: Text | None = None
    additional_data: AdditionalData | None = None


async def click(call: TrackingRequest) -> JsonResponse:
    """Record a click and return the visitor's click_id."""
    if call.scope["method"] == "HEAD" and b"content-type" not in call.headers:
        return JsonResponse({"success": True})  # a check that the URL responds: there is no click to store
    await call.limit("public")
    body = await call.parse(ClickBody)
    extra = body.additional_data or NO_ADDITIONAL_DATA
    program_id = body.program_id if body.program_id is not None else extra.program_id
    if program_id is None:
        raise ProgramIdRequired
    await call.limit("click", program_id)
    if body.affiliate_url is None:
        raise AffiliateUrlRequired
    link = attribution.link_code(body.affiliate_url)
    await call.require_program(program_id)
    if extra.test_mode:
        return await _test(call, program_id)
    recorded = await call.storage.write(clicks.record, _click(call, body, program_id, link), lane=program_id)
    if isinstance(recorded, PartnerInactive):
        return JsonResponse({"success": False, "reason": "partner_inactive", "message": recorded.message})
    return JsonResponse({"success": True, **recorded._asdict()})


def _click(call: TrackingRequest, body: ClickBody, program_id: int, link: LinkCode) -> Click:
    user_agent = body.user_agent or (call.header(b"user-agent") or "")[:512] or None
    purpose = call.header(b"sec-purpose") or call.header(b"purpose") or call.header(b"x-moz")
    visitor = {
        "session_id": body.session_id,
        "user_agent": user_agent,
        "language": body.language,
        "timezone": body.timezone,
        "screen_resolution": body.screen_resolution,
        "viewport_size": body.viewport_size,
    }
    landing_url = str(body.affiliate_url)
    language = body.language or call.header(b"accept-language")
    described = dimensions.describe(landing_url, agent_of(user_agent), call.place(), language)
    details = click_details.read(landing_url, body.referrer_url, call.address_hash(), described)
    return Click(
        program_id=program_id,
        code=link.code,
        parameter=link.parameter,
        landing_url=landing_url,
        at=call.at,
        click_id=keys.click_id(program_id, call.at),
        existing_click_id=body.existing_click_id,
        filtered=reason_to_filter(user_agent, method=call.scope["method"], purpose=purpose),
        page_url=body.page_url,
        page_title=body.page_title,
        referrer_url=body.referrer_url,
        visitor=to_json(visitor, exclude_none=True).decode(),
        details=details,
    )


async def _test(call: TrackingRequest, program_id: int) -> JsonResponse:
    return await call.test(TestModeCall("click", call.at, program_id), call.principal)


endpoint = Endpoint(click, public=True)
PREFETCH = dict.fromkeys(("Sec-Purpose", "Purpose", "X-Moz"), "`prefetch`: stored, never counted.")
DESCRIPTION = public_call(
    "trackClick",
    "Record a click and give the visitor a click_id",
    *(ProgramIdRequired, ProgramNotFound, AffiliateUrlRequired, InvalidAffiliateUrl, AffMissing, PartnerNotFound),
    CustomerWrongProgram,
    responses=(ClickAcceptedView, PartnerInactiveView, TestRecordedView),
    body=ClickBody,
    description=f"Public. Known bots and prefetches never count. {TEST_MODE} A key matters only in test mode.",
    headers=PREFETCH,
)
HEAD_DESCRIPTION = DESCRIPTION._replace(
    name="prefetchClick",
    summary="As POST, without a body in the response; never counted. Without a click in the request, nothing is stored",
)
