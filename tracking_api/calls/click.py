"""POST /api/v1/track/click: a visitor followed a partner's link. Public."""

from typing import Literal

from pydantic_core import to_json

from presentation.view import View, with_fields_of
from storage.rules import attribution, click_details, errors, keys
from storage.tracking import clicks
from storage.tracking.received_calls import Public
from storage.tracking.test_mode import TestModeCall
from tracking_api.calls.call import Answer, Endpoint, Recording, TrackingCaller, recording_of_test
from tracking_api.calls.fields import ProgramId, TestRecordedView, TrackingBody, described
from tracking_api.calls.visitors import agent_of, reason_to_filter
from web.body import Text, Url

VISITOR = ("session_id", "user_agent", "language", "timezone", "screen_resolution", "viewport_size")


class ClickBody(TrackingBody):
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


@with_fields_of(clicks.ClickResult)
class ClickAcceptedView(View):
    """A recorded click; the visitor's browser stores its `click_id`."""

    success: Literal[True]


@with_fields_of(clicks.PartnerInactive)
class PartnerInactiveView(View):
    """The partner or the program is not active; the click does not count."""

    success: Literal[False]
    reason: Literal["partner_inactive"]


def click(body: ClickBody, caller: TrackingCaller) -> Recording:
    """Record a click and give the visitor's click_id."""
    program_id = _program_of(body)
    if body.affiliate_url is None:
        raise errors.AffiliateUrlRequired
    code, parameter = attribution.link_code(body.affiliate_url)
    if body.extra.test_mode:
        return recording_of_test(TestModeCall("click", caller.at, program_id), caller.key, public=Public(program_id))
    user_agent = body.user_agent or (caller.header(b"user-agent") or "")[:512] or None
    sent = vars(body)
    visitor = {name: sent[name] for name in ("existing_click_id", *VISITOR)}
    visitor["user_agent"] = user_agent
    landing_url = str(body.affiliate_url)
    language = body.language or caller.header(b"accept-language")
    place = caller.services.places.of(caller.headers, caller.address)
    item = clicks.Click(
        program_id=program_id,
        code=code,
        parameter=parameter,
        landing_url=landing_url,
        at=caller.at,
        click_id=keys.click_id(program_id, caller.at),
        filtered=reason_to_filter(user_agent, caller.scope["method"], caller.headers),
        visitor=to_json(visitor, exclude_none=True).decode(),
        referrer_host=click_details.referrer_host(body.referrer_url),
        ad_markers=click_details.ad_markers(landing_url),
        address_hash=caller.services.address_hashes.of(caller.address, caller.at),
        dimensions=click_details.describe(landing_url, agent_of(user_agent), place, language),
        existing_click_id=body.existing_click_id,
        page_url=body.page_url,
        page_title=body.page_title,
        referrer_url=body.referrer_url,
    )
    return Recording(clicks.record, item, _answer, public=Public(program_id))


def _program_of(body: ClickBody) -> int:
    program_id = body.program_id if body.program_id is not None else body.extra.program_id
    return errors.required(program_id, errors.ProgramIdRequired)


def _answer(recorded: clicks.ClickResult | clicks.PartnerInactive) -> Answer:
    if isinstance(recorded, clicks.PartnerInactive):
        return {"success": False, "reason": "partner_inactive", **recorded._asdict()}
    return {"success": True, **recorded._asdict()}


endpoint = Endpoint(click, ClickBody, key="ignored", program_of=_program_of)
DESCRIPTION = described("click", ClickAcceptedView, PartnerInactiveView, TestRecordedView, body=ClickBody)
HEAD_DESCRIPTION = DESCRIPTION._replace(
    name="prefetchClick",
    summary="As POST, without a body in the response; never counted. Without a click in the request, nothing is stored",
)
