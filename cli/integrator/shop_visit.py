"""The first step of `svc test journey`: a visitor opens the running shop, in a browser where there is one."""

import secrets
from typing import Any, NamedTuple

import httpx2

from cli.integrator.doctor import shop_page
from cli.integrator.doctor.shop_page import ShopPage
from cli.integrator.output import Failure
from cli.integrator.service import ServiceClient

NEWEST = 20


class JourneyStep(NamedTuple):
    """A step: what was tried, its state (pass, fail or unknown), the service's verdict, and what to do."""

    step: str
    state: str
    verdict: str
    text: str


class Visit(NamedTuple):
    """What came of a visit: the step, the browser (None for plain HTTP), and the click that the tracker sent."""

    step: JourneyStep
    browser: str | None = None
    click_id: str | None = None


def visit(shop: str, account: ServiceClient, program: dict[str, Any], code: str) -> Visit:
    """Open the shop's page through the partner's link; in a browser, the tracker sends the click."""
    mark = secrets.token_hex(6)
    try:
        page = shop_page.fetch(str(httpx2.URL(shop).copy_merge_params({"aff": code, "svc_journey": mark})))
    except (Failure, httpx2.InvalidURL) as problem:
        return Visit(JourneyStep("shop", "fail", "unreachable", f"{shop} does not respond: {problem}"))
    wrong = _wrong(page, program)
    if wrong or page.browser is None:
        text = "The page's HTML has the tracker of the sandbox. Plain HTTP: there is no Chromium, Chrome or Edge here."
        return Visit(wrong or JourneyStep("shop", "pass", "tracker_found", text), page.browser)
    click_id = _click(account, program, mark)
    if click_id is None:
        text = f"In {page.browser}, the page has the tracker, but no click arrived. `svc doctor {shop}` checks why."
        consent = " It waits for consent." if page.tags[0].needs_consent else ""
        state = "unknown" if consent else "fail"
        return Visit(JourneyStep("shop", state, "no_click", text + consent), page.browser)
    text = f"In {page.browser}, the shop's page sent the click that the next steps use."
    return Visit(JourneyStep("shop", "pass", "click_recorded", text), page.browser, click_id)


def _wrong(page: ShopPage, program: dict[str, Any]) -> JourneyStep | None:
    if page.status != httpx2.codes.OK:
        return JourneyStep("shop", "fail", "error_page", f"The page answers {page.status}.")
    if not page.tags and page.browser is None:
        text = "The page's HTML has no tracker. If a script adds it, install Chromium: this looks there, too."
        return JourneyStep("shop", "unknown", "no_tracker", text)
    if not page.tags:
        return JourneyStep("shop", "fail", "no_tracker", f"In {page.browser}, the page has no tracker.")
    if page.tags[0].program_id != str(program["id"]):
        text = f"The tracker has program {page.tags[0].program_id}. Restart the shop with SERVICE_PROGRAM_ID="
        return JourneyStep("shop", "fail", "other_program", f"{text}{program['id']}.")
    return None


def _click(account: ServiceClient, program: dict[str, Any], mark: str) -> str | None:
    """Return the click of a visit."""
    newest = account.call("GET", f"/api/programs/{program['id']}/events", kind="click", limit=NEWEST)["data"]
    return next((str(each["id"]) for each in newest if mark in each.get("landing_url", "")), None)
